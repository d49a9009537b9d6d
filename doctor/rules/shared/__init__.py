"""What several rules judge by: pure functions of facts and the matrix, one matter a file."""

"""What a message means: signatures of known messages, and the causes they stand for."""

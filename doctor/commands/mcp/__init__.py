"""A server for programs that speak the Model Context Protocol: questions only, nothing is changed."""

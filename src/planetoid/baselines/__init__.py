"""The methods that Planetoid is compared with, one a file."""

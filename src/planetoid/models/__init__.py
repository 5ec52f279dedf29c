"""Planetoid-T, Planetoid-I and Planetoid-G."""

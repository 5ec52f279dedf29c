"""The tables in the documents, a module for each group; ``update_docs.py`` writes them."""

"""A table as codes and cells: what dataframes and files become."""

"""What is published: releases, the tables they become, and measures of them."""

"""One format of a benchmark a file; its module holds `FORMAT`."""

"""Pure decisions: a synchronous function of the world, the configuration and the clock it is given."""

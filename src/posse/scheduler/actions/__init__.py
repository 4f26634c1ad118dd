"""The actions of a cycle, one file each, in the order the configuration names them."""

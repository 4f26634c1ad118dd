"""One file per way of saying "gang": API objects in, facts of the model out."""

"""The one model: nodes, tasks, gangs and queues as facts, and all that moves as columns of one `World`."""

"""The Kubernetes API as we use it: typed objects, quantities, requests, manifests."""

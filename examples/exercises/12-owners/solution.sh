plat apply --server-side --field-manager=autoscale --force-conflicts -f solution.yaml

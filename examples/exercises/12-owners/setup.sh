plat create namespace lesson-12
plat apply --server-side --field-manager=shop -f start.yaml

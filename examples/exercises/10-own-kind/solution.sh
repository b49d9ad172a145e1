plat apply -f solution.yaml
plat wait --for=condition=Established crd/cakes.bakery.example.com --timeout=30s
plat apply -f cake.yaml

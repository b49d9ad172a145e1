#!/bin/sh
# Tests the manifests of app/ against the API of a release, without a cluster: ./test.sh [RELEASE]
set -eu
cd "$(dirname "$0")"
release=${1:-1.24}
name=app-test

KUBECONFIG=$(plat up "$name" --identity kubernetes --store memory --api-release "$release" --wait -o kubeconfig -- --workloads)
export KUBECONFIG
trap 'plat down "$name" >/dev/null' EXIT

# With a chart: helm install web ./chart --wait && helm test web
plat create namespace shop
plat apply -k app -n shop --validate=true
plat rollout status deployment/web -n shop --timeout=60s

# The service leads to both pods, and one of them may be evicted at a time.
plat wait --for='jsonpath={.subsets[0].addresses[1].ip}' endpoints/web -n shop --timeout=30s
plat wait --for='jsonpath={.status.disruptionsAllowed}=1' poddisruptionbudget/web -n shop --timeout=30s

# An upgrade goes through, and changes nothing the second time.
plat set image deployment/web web=shop/web:2 -n shop
plat rollout status deployment/web -n shop --timeout=60s
plat apply -k app -n shop
plat diff -k app -n shop

# What a later release would refuse.
plat check -f app/app.yaml --to-release latest
echo "app works with $release"

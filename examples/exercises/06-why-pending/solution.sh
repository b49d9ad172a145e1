plat delete pod big -n lesson-06 --force --grace-period=0
plat run big --image=shop/big -n lesson-06 --overrides='{"spec":{"containers":[{"name":"big","image":"shop/big","resources":{"requests":{"cpu":"500m"}}}]}}'
plat wait --for=condition=Ready pod/big -n lesson-06 --timeout=60s

plat create namespace lesson-06
plat run big --image=shop/big -n lesson-06 --overrides='{"spec":{"containers":[{"name":"big","image":"shop/big","resources":{"requests":{"cpu":"5000"}}}]}}'

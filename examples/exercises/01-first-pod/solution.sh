plat run hello --image=shop/hello -n lesson-01
plat wait --for=condition=Ready pod/hello -n lesson-01 --timeout=60s

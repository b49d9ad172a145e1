plat create namespace lesson-07
plat create serviceaccount reader -n lesson-07

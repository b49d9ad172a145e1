plat get configmap stuck -n lesson-11 >/dev/null 2>&1 && say "it is still there"
plat get namespace lesson-11 >/dev/null 2>&1 || say "not with the whole namespace"

plat create quota bounds --hard=configmaps=2 -n lesson-09
plat wait --for='jsonpath={.status.hard.configmaps}=2' quota/bounds -n lesson-09 --timeout=30s

plat create role reader --verb=get,list,watch --resource=configmaps -n lesson-07
plat create rolebinding reader --role=reader --serviceaccount=lesson-07:reader -n lesson-07

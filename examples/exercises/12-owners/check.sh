replicas=$(plat get deployment web -n lesson-12 -o 'jsonpath={.spec.replicas}' 2>/dev/null)
[ "$replicas" = 5 ] || say "there are to be ${replicas:-no} pods"
fields=$(plat get deployment web -n lesson-12 --show-managed-fields -o 'jsonpath={range .metadata.managedFields[?(@.operation=="Apply")]}{.manager}{.fieldsV1}{"\n"}{end}')
echo "$fields" | grep '^autoscale' | grep -q f:replicas || say "the manager autoscale does not own the number of pods"
echo "$fields" | grep '^shop' | grep -q f:replicas && say "shop owns it, too"
echo "$fields" | grep '^shop' | grep -q f:template || say "shop has lost its template"

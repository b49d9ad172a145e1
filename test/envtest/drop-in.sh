#!/bin/sh
# Drives a directory of `plat envtest` as Go's envtest drives the stock programs: asks for help, makes certificates, starts etcd
# and kube-apiserver with its flags, asks whether they are ready, works with a client certificate, stops both by SIGTERM.
# Two control planes at once. Prints a line for each step that held.
#
#   drop-in.sh ASSETS WORK ADDRESS
set -eu
assets=$1 work=$2 address=$3
planes='1 2'
started=''
trap 'for pid in $started; do kill -9 "$pid" 2>/dev/null || :; done' EXIT

fail() {
  echo "FAILED: $*"
  for plane in $planes; do sed "s/^/plane $plane: /" "$work/$plane/log" 2>/dev/null || :; done
  exit 1
}
ok() { echo "ok $*"; }

key() { openssl ecparam -name prime256v1 -genkey -noout 2>/dev/null | openssl pkcs8 -topk8 -nocrypt -out "$1" 2>/dev/null; }
# authority FILES: FILES.key and FILES.crt, signed by itself.
authority() {
  key "$1.key"
  openssl req -x509 -new -key "$1.key" -subj '/O=envtest/CN=envtest-environment' -days 7 -out "$1.crt" 2>/dev/null
}
# issue AUTHORITY FILES SUBJECT EXTENSIONS
issue() {
  key "$2.key"
  printf '%s\n' "$4" >"$2.ext"
  openssl req -new -key "$2.key" -subj "$3" -out "$2.csr" 2>/dev/null
  openssl x509 -req -in "$2.csr" -CA "$1.crt" -CAkey "$1.key" -CAcreateserial -days 7 -extfile "$2.ext" -out "$2.crt" 2>/dev/null
}

# As envtest finds out whether a program has a flag.
has_flag() { "$assets/$1" --help | grep -Eq "^[[:space:]]*--$2\b"; }

# until_ok PID CURL-ARGUMENTS…: asks every 100 ms while the process lives.
until_ok() {
  pid=$1
  shift
  tries=0
  while [ "$(curl -s -o /dev/null -w '%{http_code}' --max-time 5 "$@" || :)" != 200 ]; do
    kill -0 "$pid" 2>/dev/null || fail "the process ended before it answered: $*"
    tries=$((tries + 1))
    [ "$tries" -lt 900 ] || fail "no answer: $*"
    sleep 0.1
  done
}

"$assets/etcd" --help >/dev/null || fail 'help of etcd'
"$assets/kube-apiserver" --help >/dev/null || fail 'help of kube-apiserver'
ok help
has_flag etcd unsafe-no-fsync && no_fsync=--unsafe-no-fsync=true || no_fsync=
has_flag kube-apiserver insecure-port && insecure=--insecure-port=0 || insecure=
has_flag kube-apiserver no-such-flag && fail 'help has a line for every flag'
ok flags

for plane in $planes; do
  dir=$work/$plane
  mkdir -p "$dir"
  authority "$dir/serving-ca"
  issue "$dir/serving-ca" "$dir/apiserver" /CN=localhost "subjectAltName=DNS:localhost,IP:$address
extendedKeyUsage=serverAuth"
  authority "$dir/sa-signer"
  authority "$dir/client-cert-auth-ca"
  issue "$dir/client-cert-auth-ca" "$dir/admin" /O=system:masters/CN=admin extendedKeyUsage=clientAuth
done

for plane in $planes; do
  dir=$work/$plane url=http://$address:2390$plane port=2640$plane
  "$assets/etcd" --advertise-client-urls="$url" --data-dir="$dir/etcd" --listen-client-urls="$url" \
    --listen-peer-urls="http://$address:2391$plane" $no_fsync >>"$dir/log" 2>&1 &
  echo $! >"$dir/etcd.pid"
  started="$started $!"
  until_ok $! "$url/health"
  "$assets/kube-apiserver" --allow-privileged=true --authorization-mode=RBAC --bind-address="$address" --cert-dir="$dir" \
    --client-ca-file="$dir/client-cert-auth-ca.crt" --disable-admission-plugins=ServiceAccount --etcd-servers="$url" $insecure \
    --secure-port=$port --service-account-issuer="https://$address:$port/" --service-account-key-file="$dir/sa-signer.crt" \
    --service-account-signing-key-file="$dir/sa-signer.key" --service-cluster-ip-range=10.0.0.0/24 \
    --watch-cache=false --logtostderr --feature-gates=NodeSwap=true >>"$dir/log" 2>&1 &
  echo $! >"$dir/apiserver.pid"
  started="$started $!"
done
for plane in $planes; do
  until_ok "$(cat "$work/$plane/apiserver.pid")" --insecure "https://$address:2640$plane/healthz"
done
ok ready

# api PLANE METHOD PATH [BODY]: the answer, then its code on a line of its own. As a member of system:masters, over verified TLS.
api() {
  dir=$work/$1
  set -- "$1" "$2" "$3" "${4:-}"
  curl -s -A envtest --max-time 20 -w '\n%{http_code}\n' --cacert "$dir/serving-ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" \
    -X "$2" -H 'Content-Type: application/json' ${4:+--data "$4"} "https://$address:2640$1$3"
}
# expect PLANE CODE METHOD PATH [BODY]
expect() {
  plane=$1 code=$2
  shift 2
  answer=$(api "$plane" "$@") || fail "no answer to $1 $2"
  [ "$(echo "$answer" | tail -n 1)" = "$code" ] || fail "$1 $2: $answer"
}

definition='{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{
"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,
"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}'
for plane in $planes; do
  expect "$plane" 201 POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions "$definition"
  until_ok "$(cat "$work/$plane/apiserver.pid")" --cacert "$work/$plane/serving-ca.crt" --cert "$work/$plane/admin.crt" \
    --key "$work/$plane/admin.key" "https://$address:2640$plane/apis/example.com/v1/widgets"
  expect "$plane" 201 POST /apis/example.com/v1/namespaces/default/widgets \
    "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"widget-$plane\"}}"
done
for plane in $planes; do
  expect "$plane" 200 GET /apis/example.com/v1/widgets
  [ "$(echo "$answer" | grep -o '"name":"widget-[0-9]"')" = "\"name\":\"widget-$plane\"" ] || fail "plane $plane has widgets of others: $answer"
done
ok objects

expect 1 200 GET /api/v1/namespaces/default/serviceaccounts
case $answer in *'"items":[]'*) ok no-controllers ;; *) fail "accounts appeared: $answer" ;; esac

expect 1 201 POST /api/v1/namespaces/default/serviceaccounts '{"metadata":{"name":"robot"}}'
expect 1 201 POST /api/v1/namespaces/default/serviceaccounts/robot/token '{"spec":{}}'
token=$(echo "$answer" | grep -o '"token":"[^"]*"' | cut -d '"' -f 4)
expect 1 201 POST /apis/authentication.k8s.io/v1/tokenreviews "{\"spec\":{\"token\":\"$token\"}}"
case $answer in *'"authenticated":true'*system:serviceaccount:default:robot*) ok tokens ;; *) fail "the token is not accepted: $answer" ;; esac
expect 2 201 POST /apis/authentication.k8s.io/v1/tokenreviews "{\"spec\":{\"token\":\"$token\"}}"
case $answer in *'"authenticated":true'*) fail "another plane accepts the token: $answer" ;; *) ok keys ;; esac

code=$(curl -s --max-time 20 -o /dev/null -w '%{http_code}' --insecure "https://$address:26401/api/v1/secrets")
[ "$code" = 403 ] && ok rbac || fail "an anonymous list of secrets: $code"
[ "$(grep -c 'ignored in envtest mode' "$work/1/log")" = 1 ] || fail 'one line of ignored flags'
grep -q 'ignored in envtest mode.*--etcd-servers.*--logtostderr.*--watch-cache' "$work/1/log" || fail 'the line names the flags'
grep -q 'node agents only have no effect in this server: NodeSwap' "$work/1/log" || fail 'a line names the gate'
ok log

for plane in $planes; do
  for program in apiserver etcd; do
    pid=$(cat "$work/$plane/$program.pid")
    kill -TERM "$pid"
    code=0
    wait "$pid" || code=$?
    [ "$code" = 0 ] || fail "$program of plane $plane ended with $code"
  done
done
started=''
ok stopped

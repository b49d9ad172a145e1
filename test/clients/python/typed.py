"""The typed client: one class for each group, one method for each request."""
import copy
import inspect
import os
import urllib.parse

from kubernetes import client, config, utils, watch

from support import NAMESPACE, api_client, equal, fails, names, run, step

API = api_client()
CORE = client.CoreV1Api(API)
APPS = client.AppsV1Api(API)
# The service has no selector: this client cannot read an EndpointSlice without endpoints, which a stock server shows as null, too.
OBJECTS = """
apiVersion: v1
kind: Service
metadata: {{name: from-yaml, namespace: {namespace}}}
spec:
  ports: [{{port: 80, targetPort: http}}]
---
apiVersion: batch/v1
kind: Job
metadata: {{name: from-yaml, namespace: {namespace}}}
spec:
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: c, image: i}}]
"""


def config_map(name, data=None, labels=None):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data)


def deployment(name):
    labels = {"app": name}
    return client.V1Deployment(
        metadata=client.V1ObjectMeta(name=name),
        spec=client.V1DeploymentSpec(
            replicas=1,
            selector=client.V1LabelSelector(match_labels=labels),
            template=client.V1PodTemplateSpec(
                metadata=client.V1ObjectMeta(labels=labels),
                spec=client.V1PodSpec(containers=[client.V1Container(name="web", image="example.com/web:1")]),
            ),
        ),
    )


@step
def field_validation():
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
    body = {"metadata": {"name": "fields"}, "dta": {"a": "b"}}

    def send(mode):
        return API.call_api(
            path, "POST", query_params=[("fieldValidation", mode), ("dryRun", "All")], body=body,
            header_params={"Content-Type": "application/json", "Accept": "application/json"},
            auth_settings=["BearerToken"], response_type="V1ConfigMap",
        )

    refused = fails(400, send, "Strict")
    equal('strict decoding error: unknown field "dta"' in refused["message"], True, "names the field")
    equal(send("Warn")[2].get("Warning"), '299 - "unknown field \\"dta\\""', "warning")
    equal(send("Ignore")[2].get("Warning"), None, "warning when ignored")
    fails(422, send, "strict")


@step
def create_read_replace():
    made = CORE.create_namespaced_config_map(NAMESPACE, config_map("a", {"k": "v"}), field_manager="tester")
    equal(made.metadata.creation_timestamp.utcoffset().total_seconds(), 0, "offset of the creation time")
    equal([entry.manager for entry in made.metadata.managed_fields], ["tester"], "managers")
    equal(CORE.read_namespaced_config_map("a", NAMESPACE).data, {"k": "v"}, "data")
    changed = copy.deepcopy(made)
    changed.data = {"k": "w"}
    equal(CORE.replace_namespaced_config_map("a", NAMESPACE, changed).data, {"k": "w"}, "data after the update")
    equal(fails(409, CORE.replace_namespaced_config_map, "a", NAMESPACE, made)["reason"], "Conflict", "reason")
    equal(fails(409, CORE.create_namespaced_config_map, NAMESPACE, config_map("a"))["reason"], "AlreadyExists", "reason")
    wrong = fails(422, CORE.create_namespaced_config_map, NAMESPACE, config_map("Wrong"))
    equal([cause["field"] for cause in wrong["details"]["causes"]], ["metadata.name"], "fields at fault")
    CORE.create_namespaced_config_map(NAMESPACE, config_map("dry"), dry_run="All")
    equal(fails(404, CORE.read_namespaced_config_map, "dry", NAMESPACE)["details"]["name"], "dry", "name of what is not found")


@step
def list_in_pages():
    for index in range(5):
        CORE.create_namespaced_secret(NAMESPACE, client.V1Secret(metadata=client.V1ObjectMeta(name=f"page{index}", labels={"pages": ""})))
    seen, versions, token = [], set(), None
    sizes = []
    while True:
        page = CORE.list_namespaced_secret(NAMESPACE, label_selector="pages", limit=2, _continue=token)
        seen += names(page.items)
        sizes.append(len(page.items))
        versions.add(page.metadata.resource_version)
        token = page.metadata._continue
        if not token:
            break
        # An object that comes between two pages is not on the later ones.
        if len(sizes) == 1:
            late = client.V1Secret(metadata=client.V1ObjectMeta(name="page9", labels={"pages": ""}))
            CORE.create_namespaced_secret(NAMESPACE, late)
    equal(seen, [f"page{index}" for index in range(5)], "names on all pages")
    equal(sizes, [2, 2, 1], "sizes of the pages")
    equal(len(versions), 1, "number of resource versions")
    by_field = CORE.list_namespaced_secret(NAMESPACE, field_selector="metadata.name=page3", limit=500)
    equal(names(by_field.items), ["page3"], "names by field")
    equal(fails(400, CORE.list_namespaced_secret, NAMESPACE, limit=2, _continue="nonsense")["reason"], "BadRequest", "reason")


@step
def patch_json_and_strategic():
    APPS.create_namespaced_deployment(NAMESPACE, deployment("patched"))
    changed = APPS.patch_namespaced_deployment("patched", NAMESPACE, [{"op": "replace", "path": "/spec/replicas", "value": 3}])
    equal(changed.spec.replicas, 3, "replicas after the JSON patch")
    refused = [{"op": "test", "path": "/spec/replicas", "value": 9}]
    fails(422, APPS.patch_namespaced_deployment, "patched", NAMESPACE, refused)
    # The client sends an object as a strategic merge patch: lists of containers are merged by name.
    side = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "s"}]}}}}
    changed = APPS.patch_namespaced_deployment("patched", NAMESPACE, side)
    equal([one.name for one in changed.spec.template.spec.containers], ["side", "web"], "containers")
    typed = client.V1Deployment(metadata=client.V1ObjectMeta(labels={"l": "1"}))
    equal(APPS.patch_namespaced_deployment("patched", NAMESPACE, typed).metadata.labels, {"l": "1"}, "labels")


@step
def patch_merge_and_apply():
    # A default header of the client decides the type of its patches.
    merging, applying = api_client(), api_client()
    merging.set_default_header("Content-Type", "application/merge-patch+json")
    applying.set_default_header("Content-Type", "application/apply-patch+yaml")
    CORE.create_namespaced_config_map(NAMESPACE, config_map("merged", {"a": "1", "b": "2"}))
    merged = client.CoreV1Api(merging).patch_namespaced_config_map("merged", NAMESPACE, {"data": {"a": None, "c": "3"}})
    equal(merged.data, {"b": "2", "c": "3"}, "data after the merge patch")

    def apply(manager, value, **options):
        text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\ndata:\n  # of {manager}\n  a: {value!r}\n"
        return client.CoreV1Api(applying).patch_namespaced_config_map("applied", NAMESPACE, text, field_manager=manager, **options)

    equal(apply("one", "1").data, {"a": "1"}, "data after the first apply")
    equal(fails(409, apply, "two", "2")["reason"], "Conflict", "reason")
    equal([entry.manager for entry in apply("two", "2", force=True).metadata.managed_fields], ["two"], "managers")


@step
def create_from_yaml():
    path = os.path.join(os.environ["TMPDIR"], "objects.yaml")
    with open(path, "w", encoding="utf8") as file:
        file.write(OBJECTS.format(namespace=NAMESPACE))
    utils.create_from_yaml(API, path)
    service = CORE.read_namespaced_service("from-yaml", NAMESPACE)
    equal(service.spec.ports[0].target_port, "http", "target port")
    equal(client.BatchV1Api(API).read_namespaced_job("from-yaml", NAMESPACE).spec.parallelism, 2, "parallelism")


@step
def bind_and_evict_pods():
    spec = client.V1PodSpec(containers=[client.V1Container(name="c", image="i")])
    CORE.create_namespaced_pod(NAMESPACE, client.V1Pod(metadata=client.V1ObjectMeta(name="p", labels={"app": "p"}), spec=spec))
    binding = client.V1Binding(
        metadata=client.V1ObjectMeta(name="p"), target=client.V1ObjectReference(api_version="v1", kind="Node", name="n")
    )
    # The client cannot read the answer, which is a Status, as the Binding that it expects.
    answer = CORE.create_namespaced_pod_binding("p", NAMESPACE, binding, _preload_content=False)
    equal(answer.status, 201, "code of the answer")
    equal(CORE.read_namespaced_pod("p", NAMESPACE).spec.node_name, "n", "node")
    CORE.patch_namespaced_pod_status("p", NAMESPACE, {"status": {"phase": "Running"}})
    budget = client.V1PodDisruptionBudget(
        metadata=client.V1ObjectMeta(name="p"),
        spec=client.V1PodDisruptionBudgetSpec(min_available=1, selector=client.V1LabelSelector(match_labels={"app": "p"})),
    )
    policy = client.PolicyV1Api(API)
    policy.create_namespaced_pod_disruption_budget(NAMESPACE, budget)
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="p"))
    equal(fails(429, CORE.create_namespaced_pod_eviction, "p", NAMESPACE, eviction)["reason"], "TooManyRequests", "reason")
    policy.delete_namespaced_pod_disruption_budget("p", NAMESPACE)
    eviction.delete_options = client.V1DeleteOptions(grace_period_seconds=7)
    CORE.create_namespaced_pod_eviction("p", NAMESPACE, eviction)
    equal(CORE.read_namespaced_pod("p", NAMESPACE).metadata.deletion_grace_period_seconds, 7, "seconds of grace")
    CORE.delete_namespaced_pod("p", NAMESPACE, grace_period_seconds=0)
    fails(404, CORE.read_namespaced_pod, "p", NAMESPACE)


@step
def scale_and_status():
    APPS.create_namespaced_deployment(NAMESPACE, deployment("scaled"))
    scale = APPS.read_namespaced_deployment_scale("scaled", NAMESPACE)
    scale.spec.replicas = 4
    equal(APPS.replace_namespaced_deployment_scale("scaled", NAMESPACE, scale).spec.replicas, 4, "replicas of the scale")
    status = {"status": {"replicas": 4, "conditions": [{"type": "Available", "status": "True", "reason": "r", "message": "m"}]}}
    changed = APPS.patch_namespaced_deployment_status("scaled", NAMESPACE, status)
    equal((changed.spec.replicas, changed.status.replicas), (4, 4), "replicas")
    equal(changed.status.conditions[0].type, "Available", "condition")


@step
def watch_and_resume():
    start = CORE.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    labels = {"watched": ""}
    CORE.create_namespaced_config_map(NAMESPACE, config_map("w", {"n": "1"}, labels))
    CORE.create_namespaced_config_map(NAMESPACE, config_map("other"))
    CORE.patch_namespaced_config_map("w", NAMESPACE, {"data": {"n": "2"}})

    def events(since, count):
        watcher, found = watch.Watch(), []
        for event in watcher.stream(CORE.list_namespaced_config_map, NAMESPACE, label_selector="watched", resource_version=since):
            found.append((event["type"], event["object"].data["n"], event["object"].metadata.resource_version))
            if len(found) == count:
                watcher.stop()
        return found

    first = events(start, 2)
    equal([event[:2] for event in first], [("ADDED", "1"), ("MODIFIED", "2")], "events")
    # What happens while nobody watches is reported to the watch that resumes.
    CORE.patch_namespaced_config_map("w", NAMESPACE, {"data": {"n": "3"}})
    CORE.delete_namespaced_config_map("w", NAMESPACE)
    equal([event[:2] for event in events(first[-1][2], 2)], [("MODIFIED", "3"), ("DELETED", "3")], "events after the resume")
    equal([event[:2] for event in events(first[0][2], 1)], [("MODIFIED", "2")], "events from between")


@step
def watch_that_the_server_ended_is_resumed():
    # The server ends a watch after the time that was asked for; the client keeps the last version that it saw.
    made = CORE.create_namespaced_config_map(NAMESPACE, config_map("ended", {}, {"ended": ""}))
    watcher = watch.Watch()
    while watcher.resource_version is None:
        for event in watcher.stream(CORE.list_namespaced_config_map, NAMESPACE, label_selector="ended", timeout_seconds=1):
            equal((event["type"], event["object"].metadata.uid), ("ADDED", made.metadata.uid), "first event")
    CORE.patch_namespaced_config_map("ended", NAMESPACE, {"data": {"again": "1"}})
    since = watcher.resource_version
    equal(since, made.metadata.resource_version, "version that the client resumes from")
    for event in watcher.stream(CORE.list_namespaced_config_map, NAMESPACE, label_selector="ended", resource_version=since):
        equal((event["type"], event["object"].data), ("MODIFIED", {"again": "1"}), "event after the resume")
        watcher.stop()


@step
def service_account_token():
    CORE.create_namespaced_service_account(NAMESPACE, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="robot")))
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=3600))
    token = CORE.create_namespaced_service_account_token("robot", NAMESPACE, request).status.token
    settings = copy.copy(API.configuration)
    settings.cert_file = settings.key_file = None
    settings.api_key = {"authorization": f"Bearer {token}"}
    robot = client.CoreV1Api(client.ApiClient(settings))
    refusal = fails(403, robot.list_namespaced_config_map, NAMESPACE)
    user = f"system:serviceaccount:{NAMESPACE}:robot"
    if f'User "{user}"' not in refusal["message"]:
        raise AssertionError(f"the refusal does not name {user}: {refusal['message']}")
    client.RbacAuthorizationV1Api(API).create_namespaced_role_binding(
        NAMESPACE,
        client.V1RoleBinding(
            metadata=client.V1ObjectMeta(name="robots"),
            role_ref=client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="view"),
            subjects=[client.V1Subject(kind="ServiceAccount", name="robot", namespace=NAMESPACE)],
        ),
    )
    robot.list_namespaced_config_map(NAMESPACE)
    fails(403, robot.create_namespaced_config_map, NAMESPACE, config_map("forbidden"))
    review = client.V1TokenReview(spec=client.V1TokenReviewSpec(token=token))
    equal(client.AuthenticationV1Api(API).create_token_review(review).status.user.username, user, "user of the token")
    access = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(namespace=NAMESPACE, verb="list", resource="configmaps")
        )
    )
    reviews = client.AuthorizationV1Api(client.ApiClient(settings))
    equal(reviews.create_self_subject_access_review(access).status.allowed, True, "access that the robot has")
    settings.api_key = {"authorization": "Bearer wrong"}
    fails(401, client.CoreV1Api(client.ApiClient(settings)).list_namespaced_config_map, NAMESPACE)


@step
def configuration_inside_of_a_pod():
    CORE.create_namespaced_service_account(NAMESPACE, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="inside")))
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
    token = CORE.create_namespaced_service_account_token("inside", NAMESPACE, request).status.token
    # A pod finds the server's certificates in a config map that the server publishes in every namespace.
    watcher, certificates = watch.Watch(), None
    for event in watcher.stream(CORE.list_namespaced_config_map, NAMESPACE, field_selector="metadata.name=kube-root-ca.crt"):
        certificates = event["object"].data["ca.crt"]
        watcher.stop()
    paths = {}
    for name, content in {"token": token, "ca.crt": certificates}.items():
        paths[name] = os.path.join(os.environ["TMPDIR"], name)
        with open(paths[name], "w", encoding="utf8") as file:
            file.write(content)
    address = urllib.parse.urlparse(API.configuration.host)
    environment = {"KUBERNETES_SERVICE_HOST": address.hostname, "KUBERNETES_SERVICE_PORT": str(address.port)}
    settings = client.Configuration()
    loader = config.incluster_config.InClusterConfigLoader(paths["token"], paths["ca.crt"], environ=environment)
    loader.load_and_set(settings)
    inside = client.CoreV1Api(client.ApiClient(settings))
    message = fails(403, inside.list_namespaced_pod, NAMESPACE)["message"]
    equal(f'User "system:serviceaccount:{NAMESPACE}:inside"' in message, True, "the refusal names the account")


@step
def client_certificate():
    if not API.configuration.cert_file or API.configuration.api_key:
        raise AssertionError("the administrator does not come with a certificate alone")
    review = client.V1SelfSubjectRulesReview(spec=client.V1SelfSubjectRulesReviewSpec(namespace=NAMESPACE))
    rules = client.AuthorizationV1Api(API).create_self_subject_rules_review(review).status.resource_rules
    equal(any(rule.verbs == ["*"] and rule.resources == ["*"] for rule in rules), True, "a rule that allows all")


@step
def credential_plugins():
    alice = client.CoreV1Api(api_client("plugin"))
    equal(alice.create_namespaced_config_map(NAMESPACE, config_map("alices")).metadata.name, "alices", "name")
    equal('User "alice"' in fails(403, alice.list_node)["message"], True, "the refusal names alice")
    carol = client.CoreV1Api(api_client("plugin-certificate"))
    equal(carol.read_namespaced_config_map("alices", NAMESPACE).metadata.name, "alices", "name")
    refusal = fails(403, carol.delete_namespaced_config_map, "alices", NAMESPACE)
    equal('User "carol"' in refusal["message"], True, "the refusal names carol")


@step
def every_list_is_read():
    # The client refuses answers without the fields that its models require.
    lists = 0
    for _, group in inspect.getmembers(client, inspect.isclass):
        if not group.__name__.endswith("Api") or group is client.CustomObjectsApi:
            continue
        served = group(API)
        for name, method in inspect.getmembers(served, inspect.ismethod):
            if not name.startswith("list_") or name.endswith("_with_http_info") or name.startswith("list_namespaced_"):
                continue
            try:
                answer = method(limit=100)
            except client.exceptions.ApiException as error:
                # Versions that are in the client but not in 1.24, or not served unless asked for.
                equal(error.status, 404, f"{group.__name__}.{name}: {error.body}")
                continue
            # Component statuses are computed, not stored.
            if not answer.metadata.resource_version and name != "list_component_status":
                raise AssertionError(f"{name} has no resource version")
            lists += 1
    if lists < 50:
        raise AssertionError(f"only {lists} lists were read")


@step
def discovery_and_version():
    equal(client.VersionApi(API).get_code().minor[:2], "24", "minor version")
    groups = {group.name for group in client.ApisApi(API).get_api_versions().groups}
    equal({"apps", "batch", "rbac.authorization.k8s.io"} <= groups, True, "groups")
    equal(client.CoreApi(API).get_api_versions().versions, ["v1"], "versions of the core group")
    kinds = {resource.kind for resource in CORE.get_api_resources().resources}
    equal({"Pod", "ConfigMap", "Node"} <= kinds, True, "kinds")


@step
def custom_objects():
    group = f"{NAMESPACE}.example.com"
    schema = client.V1JSONSchemaProps(
        type="object", properties={"spec": client.V1JSONSchemaProps(type="object", x_kubernetes_preserve_unknown_fields=True)}
    )
    version = client.V1CustomResourceDefinitionVersion(
        name="v1", served=True, storage=True, schema=client.V1CustomResourceValidation(open_apiv3_schema=schema)
    )
    definitions = client.ApiextensionsV1Api(API)
    since = definitions.create_custom_resource_definition(
        client.V1CustomResourceDefinition(
            metadata=client.V1ObjectMeta(name=f"things.{group}"),
            spec=client.V1CustomResourceDefinitionSpec(
                group=group,
                scope="Namespaced",
                names=client.V1CustomResourceDefinitionNames(plural="things", kind="Thing"),
                versions=[version],
            ),
        )
    ).metadata.resource_version
    watcher = watch.Watch()
    for event in watcher.stream(
        definitions.list_custom_resource_definition, field_selector=f"metadata.name=things.{group}", resource_version=since
    ):
        conditions = event["object"].status.conditions or []
        if any(condition.type == "Established" and condition.status == "True" for condition in conditions):
            watcher.stop()
    custom = client.CustomObjectsApi(API)
    where = (group, "v1", NAMESPACE, "things")
    thing = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": [1, 2.5, None, {"b": "c"}]}}
    equal(custom.create_namespaced_custom_object(*where, thing)["spec"], thing["spec"], "spec")
    # The client sends every patch of a custom object as a merge patch; one that is no object is the caller's fault.
    changed = custom.patch_namespaced_custom_object(*where, "t", {"spec": {"a": None, "x": 1}})
    equal(changed["spec"], {"x": 1}, "spec after the merge patch")
    fails(422, custom.patch_namespaced_custom_object, *where, "t", [{"op": "add", "path": "/spec/y", "value": 1}])
    equal(names_of(custom.list_namespaced_custom_object(*where)), ["t"], "names")
    equal(custom.delete_namespaced_custom_object(*where, "t")["status"], "Success", "status of the deletion")
    definitions.delete_custom_resource_definition(f"things.{group}")


def names_of(answer):
    return [item["metadata"]["name"] for item in answer["items"]]


@step
def delete_with_options_and_collections():
    one = CORE.create_namespaced_config_map(NAMESPACE, config_map("gone", {}, {"set": "a"}))
    wrong = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="other"))
    equal(fails(409, CORE.delete_namespaced_config_map, "gone", NAMESPACE, body=wrong)["reason"], "Conflict", "reason")
    CORE.delete_namespaced_config_map("gone", NAMESPACE, dry_run="All")
    right = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid=one.metadata.uid))
    equal(CORE.delete_namespaced_config_map("gone", NAMESPACE, body=right).status, "Success", "status of the deletion")
    fails(404, CORE.delete_namespaced_config_map, "gone", NAMESPACE)
    APPS.create_namespaced_deployment(NAMESPACE, deployment("orphaning"))
    APPS.delete_namespaced_deployment("orphaning", NAMESPACE, propagation_policy="Background", grace_period_seconds=0)
    for index in range(3):
        CORE.create_namespaced_config_map(NAMESPACE, config_map(f"set{index}", {}, {"set": "b" if index == 2 else "c"}))
    CORE.delete_collection_namespaced_config_map(NAMESPACE, label_selector="set=c")
    equal(names(CORE.list_namespaced_config_map(NAMESPACE, label_selector="set").items), ["set2"], "names that are left")
    CORE.delete_collection_namespaced_config_map(NAMESPACE, label_selector="set", body=client.V1DeleteOptions())
    equal(names(CORE.list_namespaced_config_map(NAMESPACE, label_selector="set").items), [], "names that are left")


run()

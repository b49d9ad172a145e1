"""The dynamic client: kinds are found by discovery, so that a server with names of its own can be used, too."""
import json

from kubernetes import dynamic, watch

from support import GROUP_SUFFIX, NAMESPACE, api_client, equal, fails, run, step

CLIENT = dynamic.DynamicClient(api_client())
CONFIG_MAPS = CLIENT.resources.get(api_version="v1", kind="ConfigMap")
LEASES = CLIENT.resources.get(api_version=f"coordination.{GROUP_SUFFIX}/v1", kind="Lease")
DEPLOYMENTS = CLIENT.resources.get(api_version="apps/v1", kind="Deployment")


def config_map(name, data=None, labels=None):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels or {}}, "data": data or {}}


def apply(name, data, manager, force=None):
    # This client's apply takes the body as text.
    body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
    return CONFIG_MAPS.server_side_apply(body=body, name=name, namespace=NAMESPACE, field_manager=manager, force_conflicts=force)


@step
def discovery():
    for resource in CLIENT.resources.search(kind="Role", group=f"rbac.authorization.{GROUP_SUFFIX}"):
        if "List" not in resource.kind:
            equal((resource.name, resource.namespaced), ("roles", True), "resource of roles")
    equal(CLIENT.resources.get(api_version="v1", kind="Pod").short_names, ["po"], "short names of pods")
    equal(CLIENT.version["kubernetes"]["minor"][:2], "24", "minor version")


@step
def create_and_list_in_pages():
    for index in range(3):
        CONFIG_MAPS.create(body=config_map(f"page{index}", {}, {"pages": ""}), namespace=NAMESPACE)
    first = CONFIG_MAPS.get(namespace=NAMESPACE, label_selector="pages", limit=2)
    second = CONFIG_MAPS.get(namespace=NAMESPACE, label_selector="pages", limit=2, _continue=first.metadata["continue"])
    equal([item.metadata.name for item in first.items + second.items], ["page0", "page1", "page2"], "names on both pages")
    equal(first.metadata.remainingItemCount, None, "count of what remains, which a selector leaves unknown")


@step
def patches():
    containers = [{"name": "web", "image": "i"}]
    DEPLOYMENTS.create(
        namespace=NAMESPACE,
        body={
            "metadata": {"name": "patched"},
            "spec": {
                "selector": {"matchLabels": {"app": "p"}},
                "template": {"metadata": {"labels": {"app": "p"}}, "spec": {"containers": containers}},
            },
        },
    )

    def patch(kind, body):
        changed = DEPLOYMENTS.patch(name="patched", namespace=NAMESPACE, body=body, content_type=f"application/{kind}+json")
        return [container.name for container in changed.spec.template.spec.containers]

    def side(name):
        return {"spec": {"template": {"spec": {"containers": [{"name": name, "image": "s"}]}}}}

    equal(patch("strategic-merge-patch", side("side")), ["side", "web"], "containers after the strategic merge patch")
    equal(patch("json-patch", [{"op": "remove", "path": "/spec/template/spec/containers/0"}]), ["web"], "containers after the JSON patch")
    equal(patch("merge-patch", side("only")), ["only"], "containers after the merge patch")


@step
def apply_on_the_server():
    made = apply("applied", {"a": "1"}, "one")
    equal([(entry.manager, entry.operation) for entry in made.metadata.managedFields], [("one", "Apply")], "managers")
    conflict = fails(409, apply, "applied", {"a": "2"}, "two")
    equal([cause["field"] for cause in conflict["details"]["causes"]], [".data.a"], "fields in conflict")
    equal(apply("applied", {"a": "2"}, "two", True).to_dict()["data"], {"a": "2"}, "data after a forced apply")
    equal(apply("applied", {"b": "1"}, "two").to_dict()["data"], {"b": "1"}, "data after a field was dropped")


@step
def custom_kinds_of_both_scopes():
    """As the client's own tests do: a definition is made, found by discovery, and its objects go through every verb."""
    definitions = CLIENT.resources.get(api_version=f"apiextensions.{GROUP_SUFFIX}/v1", kind="CustomResourceDefinition")
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    for scope, kind in [("Namespaced", "Apple"), ("Cluster", "Pear")]:
        plural = f"{kind.lower()}s"
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        definitions.create(
            body={
                "apiVersion": f"apiextensions.{GROUP_SUFFIX}/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.fruit.example.com"},
                "spec": {
                    "group": "fruit.example.com",
                    "scope": scope,
                    "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
                    "versions": [version],
                },
            }
        )
        established(definitions, f"{plural}.fruit.example.com")
        CLIENT.resources.invalidate_cache()
        fruits = CLIENT.resources.get(api_version="fruit.example.com/v1", kind=kind)
        where = {"namespace": NAMESPACE} if scope == "Namespaced" else {}
        fruit = {"apiVersion": "fruit.example.com/v1", "kind": kind, "metadata": {"name": "one"}, "spec": {"size": 1}}
        fruits.create(body=fruit, **where)
        changed = fruits.patch(name="one", body={"spec": {"size": 2}}, content_type="application/merge-patch+json", **where)
        equal(changed.spec.size, 2, "size after the patch")
        changed = changed.to_dict()
        changed["spec"]["size"] = 3
        equal(fruits.replace(body=changed, **where).spec.size, 3, "size after the replacement")
        fails(422, fruits.patch, name="one", body={"spec": {"size": "x"}}, content_type="application/merge-patch+json", **where)
        equal([item.metadata.name for item in fruits.get(**where).items], ["one"], "names")
        fruits.delete(name="one", **where)
        fails(404, fruits.get, name="one", **where)


@step
def integers_of_64_bits():
    definitions = CLIENT.resources.get(api_version=f"apiextensions.{GROUP_SUFFIX}/v1", kind="CustomResourceDefinition")
    integer = {"type": "integer", "format": "int64"}
    schema = {"type": "object", "properties": {"age": integer, "sizes": {"type": "array", "items": integer}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    definitions.create(
        body={
            "apiVersion": f"apiextensions.{GROUP_SUFFIX}/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "stars.sky.example.com"},
            "spec": {
                "group": "sky.example.com",
                "scope": "Namespaced",
                "names": {"plural": "stars", "singular": "star", "kind": "Star"},
                "versions": [version],
            },
        }
    )
    established(definitions, "stars.sky.example.com")
    CLIENT.resources.invalidate_cache()
    stars = CLIENT.resources.get(api_version="sky.example.com/v1", kind="Star")
    sizes = [2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
    star = {"apiVersion": "sky.example.com/v1", "kind": "Star", "metadata": {"name": "sun"}, "sizes": sizes}
    equal(stars.create(body=star, namespace=NAMESPACE).to_dict()["sizes"], sizes, "created")
    equal(stars.get(name="sun", namespace=NAMESPACE).to_dict()["sizes"], sizes, "read")
    equal(stars.get(namespace=NAMESPACE).to_dict()["items"][0]["sizes"], sizes, "listed")
    event = next(iter(stars.watch(namespace=NAMESPACE, timeout=5)))
    equal(event["raw_object"]["sizes"], sizes, "watched")
    patched = stars.patch(name="sun", body={"age": 2**63 - 1}, namespace=NAMESPACE, content_type="application/merge-patch+json")
    equal((patched.age, patched.to_dict()["sizes"]), (2**63 - 1, sizes), "patched")
    operations = [{"op": "test", "path": "/age", "value": 2**63 - 1}, {"op": "replace", "path": "/age", "value": 2**53 + 1}]
    patched = stars.patch(name="sun", body=operations, namespace=NAMESPACE, content_type="application/json-patch+json")
    equal(patched.age, 2**53 + 1, "patched by operations")


def established(definitions, name):
    watcher = watch.Watch()
    for event in definitions.watch(field_selector=f"metadata.name={name}", watcher=watcher):
        conditions = event["object"].to_dict().get("status", {}).get("conditions") or []
        if any(one["type"] == "Established" and one["status"] == "True" for one in conditions):
            watcher.stop()


@step
def lists_are_created():
    config_map_lists = CLIENT.resources.get(api_version="v1", kind="ConfigMapList")
    items = [config_map("listed0", {}, {"listed": ""}), config_map("listed1", {}, {"listed": ""})]
    body = {"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {}, "items": items}
    created = config_map_lists.create(body=body, namespace=NAMESPACE)
    equal([item.metadata.name for item in created.items], ["listed0", "listed1"], "names")
    equal(len(CONFIG_MAPS.get(namespace=NAMESPACE, label_selector="listed").items), 2, "items")


@step
def scale_and_status():
    # The client sends the kind of the deployment to its scale, too.
    equal(DEPLOYMENTS.scale.get(name="patched", namespace=NAMESPACE).kind, "Scale", "kind")
    body = {"kind": "Deployment", "metadata": {"name": "patched"}, "spec": {"replicas": 4}}
    equal(DEPLOYMENTS.scale.patch(body=body, namespace=NAMESPACE).spec.replicas, 4, "replicas of the scale")
    equal(DEPLOYMENTS.get(name="patched", namespace=NAMESPACE).spec.replicas, 4, "replicas")
    status = {"status": {"observedGeneration": 7}}
    changed = DEPLOYMENTS.status.patch(
        name="patched", body=status, namespace=NAMESPACE, content_type="application/merge-patch+json"
    )
    equal(changed.status.observedGeneration, 7, "generation of the status")


@step
def watch_and_resume():
    lease = LEASES.create(body={"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}}, namespace=NAMESPACE)

    def events(since, count):
        watcher, found = watch.Watch(), []
        for event in LEASES.watch(namespace=NAMESPACE, resource_version=since, watcher=watcher, timeout=60):
            found.append((event["type"], event["object"].spec.holderIdentity, event["object"].metadata.resourceVersion))
            if len(found) == count:
                watcher.stop()
        return found

    for holder in ["b", "c"]:
        LEASES.patch(
            name="l", namespace=NAMESPACE, body={"spec": {"holderIdentity": holder}}, content_type="application/merge-patch+json"
        )
    seen = events(lease.metadata.resourceVersion, 2)
    equal([event[:2] for event in seen], [("MODIFIED", "b"), ("MODIFIED", "c")], "events")
    LEASES.delete(name="l", namespace=NAMESPACE)
    equal([event[:2] for event in events(seen[0][2], 2)], [("MODIFIED", "c"), ("DELETED", "c")], "events after the resume")


@step
def credentials():
    alice = dynamic.DynamicClient(api_client("plugin")).resources.get(api_version="v1", kind="ConfigMap")
    equal(alice.create(body=config_map("alices"), namespace=NAMESPACE).metadata.name, "alices", "name")
    carol = dynamic.DynamicClient(api_client("plugin-certificate")).resources.get(api_version="v1", kind="ConfigMap")
    equal(carol.get(name="alices", namespace=NAMESPACE).metadata.name, "alices", "name")
    fails(403, carol.delete, name="alices", namespace=NAMESPACE)


@step
def delete_with_options_and_collections():
    made = CONFIG_MAPS.create(body=config_map("gone"), namespace=NAMESPACE)
    options = {"preconditions": {"resourceVersion": "1"}}
    fails(409, CONFIG_MAPS.delete, name="gone", namespace=NAMESPACE, body=options)
    options = {"propagationPolicy": "Foreground", "gracePeriodSeconds": 0, "apiVersion": "v1", "kind": "DeleteOptions"}
    CONFIG_MAPS.delete(name="gone", namespace=NAMESPACE, body=options)
    # The object stays until the garbage collector has looked for dependents.
    watcher, gone = watch.Watch(), "metadata.name=gone"
    since = made.metadata.resourceVersion
    for event in CONFIG_MAPS.watch(namespace=NAMESPACE, field_selector=gone, resource_version=since, watcher=watcher):
        if event["type"] == "DELETED":
            watcher.stop()
    fails(404, CONFIG_MAPS.get, name="gone", namespace=NAMESPACE)
    CONFIG_MAPS.delete(namespace=NAMESPACE, label_selector="pages")
    equal(CONFIG_MAPS.get(namespace=NAMESPACE, label_selector="pages").items, [], "items that are left")


run()

/**
 * An operator: for each Website it keeps a ConfigMap with the page, a Deployment that serves it, and a Service, and lists the site in
 * a directory that all sites share. It is written against @kubernetes/client-node, and knows nothing of the server under its tests.
 *
 *   watch websites and what they own → queue of keys → reconcile → status, or retry
 */
const { manifestsOf } = require('./manifests.js');

const API = 'example.dev/v1';
const FINALIZER = 'example.dev/directory';
const MANAGER = 'website-operator';
/** The ConfigMap that lists the sites of a namespace. Several writers change it, so that writes may conflict. */
const DIRECTORY = 'websites';

/** Attempts of a write that conflicts, before the whole reconciliation is retried. */
const CONFLICT_ATTEMPTS = 10;
const RETRY_MS = 1000;

/** The machine's clock. Tests pass another. */
const machineClock = {
  now: () => Date.now(),
  after(millis, call) {
    const timer = setTimeout(call, millis);
    return () => clearTimeout(timer);
  },
};

/** Resolves when the operator watches. `k8s`: the client library, which is an ES module, so that scripts cannot load it. */
async function startOperator({ k8s, kubeConfig, namespace = 'default', clock = machineClock, report = () => {} }) {
  const operator = new Operator({ k8s, kubeConfig, namespace, clock, report });
  await operator.start();
  return operator;
}

class Operator {
  constructor({ k8s, kubeConfig, namespace, clock, report }) {
    Object.assign(this, { k8s, kubeConfig, namespace, clock, report });
    this.objects = k8s.KubernetesObjectApi.makeApiClient(kubeConfig);
    this.custom = kubeConfig.makeApiClient(k8s.CustomObjectsApi);
    /** Names of sites to reconcile; those being reconciled; those that wait for a time. */
    this.queued = new Set();
    this.timers = new Map();
    this.working = undefined;
    this.stopped = false;
    this.informers = [
      this.follow(API, 'Website', `/apis/${API}/namespaces/${namespace}/websites`, (website) => website.metadata.name),
      this.follow('apps/v1', 'Deployment', `/apis/apps/v1/namespaces/${namespace}/deployments`, ownerOf),
      this.follow('v1', 'ConfigMap', `/api/v1/namespaces/${namespace}/configmaps`, ownerOf),
      this.follow('v1', 'Service', `/api/v1/namespaces/${namespace}/services`, ownerOf),
    ];
  }

  async start() {
    await Promise.all(this.informers.map((informer) => informer.start()));
  }
  /** Resolves when nothing is under way any more. */
  async stop() {
    this.stopped = true;
    for (const cancel of this.timers.values()) cancel();
    await Promise.all(this.informers.map((informer) => informer.stop()));
    await this.working;
  }

  /** Every change of an object, and its deletion, queues the site that it belongs to. */
  follow(apiVersion, kind, path, siteOf) {
    const list = () => this.objects.list(apiVersion, kind, this.namespace);
    const informer = this.k8s.makeInformer(this.kubeConfig, path, list);
    informer.on('change', (object) => {
      const site = siteOf(object);
      if (site !== undefined) this.enqueue(site);
    });
    informer.on('error', (error) => {
      if (this.stopped) return;
      this.report(error, kind);
      this.later(`watch ${kind}`, RETRY_MS, () => informer.start());
    });
    return informer;
  }

  enqueue(name) {
    if (this.stopped) return;
    this.queued.add(name);
    this.working ??= this.work();
  }
  /** One site after another. */
  async work() {
    for (const name of this.queued) {
      this.queued.delete(name);
      if (this.stopped) break;
      const again = await this.reconcile(name).catch((error) => this.failed(name, error));
      if (again !== undefined) this.later(name, again, () => this.enqueue(name));
    }
    this.working = undefined;
  }
  failed(name, error) {
    if (!this.stopped) this.report(error, name);
    return RETRY_MS;
  }
  later(key, millis, call) {
    if (this.stopped) return;
    this.timers.get(key)?.();
    this.timers.set(
      key,
      this.clock.after(millis, () => {
        this.timers.delete(key);
        call();
      }),
    );
  }

  /** Brings everything to what the site says. Answers milliseconds after which to look again. */
  async reconcile(name) {
    const website = await this.read({ apiVersion: API, kind: 'Website', metadata: { name, namespace: this.namespace } });
    if (website === undefined) return undefined;
    if (website.metadata.deletionTimestamp !== undefined) return this.finalize(website);
    const left = timeLeft(website, this.clock.now());
    if (left !== undefined && left <= 0) {
      await this.objects.delete(website);
      return undefined;
    }
    if (!website.metadata.finalizers?.includes(FINALIZER))
      await this.setFinalizers(website, [...(website.metadata.finalizers ?? []), FINALIZER]);
    for (const manifest of manifestsOf(website)) await this.apply(manifest);
    await this.changeDirectory((data) => ({ ...data, [name]: `http://${name}.${this.namespace}.svc` }));
    await this.reportStatus(website);
    return left;
  }

  /** What the site owns goes with it by its owner references; its line in the directory is removed here. */
  async finalize(website) {
    const { name, finalizers = [] } = website.metadata;
    if (!finalizers.includes(FINALIZER)) return;
    await this.changeDirectory(({ [name]: _, ...others }) => others);
    await this.setFinalizers(
      website,
      finalizers.filter((each) => each !== FINALIZER),
    );
  }

  async reportStatus(website) {
    const deployment = await this.read({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: website.metadata });
    const ready = deployment?.status?.readyReplicas ?? 0;
    const wanted = website.spec.replicas;
    const status = ready >= wanted ? 'True' : 'False';
    const before = website.status?.conditions?.find(({ type }) => type === 'Ready');
    const message = `${ready} of ${wanted} replicas are ready`;
    if (before?.status === status && before.message === message) return;
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : new Date(this.clock.now()).toISOString();
    const reason = status === 'True' ? 'Serving' : 'Starting';
    await this.patch(website, { status: { conditions: [{ type: 'Ready', status, reason, message, lastTransitionTime }] } }, 'status');
  }

  /** Reads, changes and writes the directory, again where another writer came between. */
  async changeDirectory(change) {
    const directory = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: DIRECTORY, namespace: this.namespace } };
    for (let attempt = 1; ; attempt++) {
      const found = await this.read(directory);
      const data = change(found?.data ?? {});
      if (sameData(data, found?.data ?? {})) return;
      try {
        await (found === undefined
          ? this.objects.create({ ...directory, data })
          : this.objects.replace({ ...directory, metadata: found.metadata, data }));
        return;
      } catch (error) {
        if (error.code !== 409 || attempt === CONFLICT_ATTEMPTS) throw error;
      }
    }
  }

  async read(object) {
    try {
      return await this.objects.read(object);
    } catch (error) {
      if (error.code === 404) return undefined;
      throw error;
    }
  }
  /** Changes nothing but what the manifest says, and takes it back from whoever changed it. */
  apply(manifest) {
    return this.objects.patch(manifest, undefined, undefined, MANAGER, true, this.k8s.PatchStrategy.ServerSideApply);
  }
  /** Fails with a conflict where the list was changed meanwhile. */
  setFinalizers(website, finalizers) {
    return this.patch(website, { metadata: { finalizers, resourceVersion: website.metadata.resourceVersion } });
  }
  patch({ metadata: { name, namespace } }, body, subresource) {
    const [group, version] = API.split('/');
    const request = { group, version, namespace, plural: 'websites', name, body };
    const options = this.k8s.setHeaderOptions('Content-Type', this.k8s.PatchStrategy.MergePatch);
    return subresource === 'status'
      ? this.custom.patchNamespacedCustomObjectStatus(request, options)
      : this.custom.patchNamespacedCustomObject(request, options);
  }
}

const ownerOf = ({ metadata }) => metadata.ownerReferences?.find(({ kind, apiVersion }) => kind === 'Website' && apiVersion === API)?.name;

/** Milliseconds that a site has left; undefined: it stays. */
const timeLeft = ({ metadata, spec }, now) =>
  spec.ttlSeconds === undefined ? undefined : new Date(metadata.creationTimestamp).getTime() + spec.ttlSeconds * 1000 - now;

const sameData = (a, b) => Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, value]) => b[name] === value);

module.exports = { startOperator, API, FINALIZER, DIRECTORY };

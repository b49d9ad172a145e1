/** What the Pepr module of the test does: it labels and checks config maps, and keeps a copy of secrets that ask for one. */
import { a, Capability, K8s, kind } from 'pepr';

export const Guard = new Capability({ name: 'guard', description: 'Labels and checks config maps, copies secrets.' });
const { When } = Guard;

When(a.ConfigMap)
  .IsCreatedOrUpdated()
  .WithLabel('guarded')
  .Mutate((request) => {
    request.SetAnnotation('guard.example.com/by', `${request.Request.operation} by ${request.Request.userInfo.username}`);
    if (request.Raw.data?.secret !== undefined) request.Merge({ data: { secret: 'hidden' } });
  })
  .Validate((request) => {
    if (request.Raw.data?.forbidden === undefined) return request.Approve();
    return request.Deny('nobody may store what is forbidden', 403);
  });

const copyOf = (secret) => ({ name: `copy-of-${secret.metadata.name}`, namespace: secret.metadata.namespace });

When(a.Secret)
  .IsCreatedOrUpdated()
  .WithLabel('copied')
  .Reconcile(async (secret) => {
    await K8s(kind.ConfigMap).Apply({ metadata: copyOf(secret), data: { keys: Object.keys(secret.data ?? {}).join() } }, { force: true });
  })
  .Finalize(async (secret) => {
    const { name, namespace } = copyOf(secret);
    await K8s(kind.ConfigMap).InNamespace(namespace).Delete(name);
  });

/** Publishes the CA certificates of this server for clients within the cluster, as a ConfigMap in every namespace. */

import { isConflict, isNotFound } from '@plat-dev/client/http';
import type { ConfigMap } from '@plat-dev/kinds/core/schema/config';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { type Controller, refs } from './runtime/controller.ts';
import { isTerminating } from './runtime/manager.ts';

/** A description of the certificates: for connections to this server from within the cluster, and nothing else. */
const description = ({ serviceName, word }: Identity): string =>
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP ' +
  `or ${serviceName}.default.svc. No other usage is guaranteed across distributions of ${word[0]?.toUpperCase()}${word.slice(1)} clusters.`;

/** `certificates` is the PEM text to publish. */
export function rootCAPublisher(certificates: string): Controller {
  return {
    name: 'root-ca-cert-publisher',
    account: 'root-ca-cert-publisher',
    ...(certificates === '' && { unavailable: 'it has no certificates to publish (--root-ca-file)' }),
    start({ informers, queue, client, identity }) {
      const name = identity.rootCAConfigMap;
      const annotation = domainName(identity, 'description');
      const text = description(identity);
      const namespaces = informers.of(refs.namespaces);
      const published = informers.of<ConfigMap>(refs.configMaps, { fieldSelector: `metadata.name=${name}` });
      const isRight = (found: ConfigMap): boolean =>
        found.data?.['ca.crt'] === certificates &&
        Object.keys(found.data).length === 1 &&
        found.metadata.annotations?.[annotation] === text;
      const wanted = (namespace: string): ConfigMap => ({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name, namespace, annotations: { [annotation]: text } },
        data: { 'ca.crt': certificates },
      });
      const work = queue(
        async (namespace) => {
          const home = namespaces.get('', namespace);
          if (home === undefined || home.metadata.deletionTimestamp !== undefined) return;
          const found = published.get(namespace, name);
          if (found !== undefined && isRight(found)) return;
          try {
            if (found === undefined) await client.create(refs.configMaps, namespace, wanted(namespace));
            else await client.update(refs.configMaps, corrected(found, wanted(namespace)));
          } catch (error) {
            if (isTerminating(error) || (found === undefined && isConflict(error)) || (found !== undefined && isNotFound(error))) return;
            throw error;
          }
        },
        { after: [namespaces.synced, published.synced] },
      );
      namespaces.onChange(({ type, object }) => {
        if (type !== 'deleted') work.add(object.metadata.name ?? '');
      });
      published.onChange(({ object }) => work.add(object.metadata.namespace ?? ''));
    },
  };
}

function corrected(found: ConfigMap, wanted: ConfigMap): ConfigMap {
  const metadata = { ...found.metadata, annotations: { ...found.metadata.annotations, ...wanted.metadata.annotations } };
  return { ...wanted, metadata };
}

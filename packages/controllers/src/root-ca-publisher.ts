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
      const isRight = (configMap: ConfigMap): boolean =>
        configMap.data?.['ca.crt'] === certificates &&
        Object.keys(configMap.data).length === 1 &&
        configMap.metadata.annotations?.[annotation] === text;
      const desiredMap = (namespace: string): ConfigMap => ({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name, namespace, annotations: { [annotation]: text } },
        data: { 'ca.crt': certificates },
      });
      const work = queue(
        async (namespace) => {
          const home = namespaces.get('', namespace);
          if (home === undefined || home.metadata.deletionTimestamp !== undefined) return;
          const existing = published.get(namespace, name);
          if (existing !== undefined && isRight(existing)) return;
          try {
            if (existing === undefined) await client.create(refs.configMaps, namespace, desiredMap(namespace));
            else await client.update(refs.configMaps, corrected(existing, desiredMap(namespace)));
          } catch (error) {
            if (isTerminating(error) || (existing === undefined && isConflict(error)) || (existing !== undefined && isNotFound(error)))
              return;
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

function corrected(existing: ConfigMap, desired: ConfigMap): ConfigMap {
  const metadata = { ...existing.metadata, annotations: { ...existing.metadata.annotations, ...desired.metadata.annotations } };
  return { ...desired, metadata };
}

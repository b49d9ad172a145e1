/** Config maps, secrets and claims. */
import { listAt, mapAt, textAt, type Value, valueAt } from '../../../../api/values.ts';
import { code, type Fact, fact, list, type Summary, state, text } from '../summary.ts';

const immutable = (object: Value): readonly Fact[] => fact('Immutable', valueAt(object, 'immutable') === true ? 'Yes' : undefined);

export function configMapSummary(map: Value): Summary {
  const data = Object.entries(mapAt(map, 'data')).map(([key, value]) => [code(key), code(String(value))]);
  const binary = Object.entries(mapAt(map, 'binaryData')).map(([key, value]) => [code(key), text(`${bytesOf(String(value))} bytes`)]);
  return {
    facts: immutable(map),
    tables: [{ title: 'Data', columns: ['Key', 'Value'], rows: [...data, ...binary], empty: 'The config map holds no data.' }],
  };
}

export function secretSummary(secret: Value): Summary {
  return {
    facts: [...fact('Type', code(textAt(secret, 'type'))), ...immutable(secret)],
    tables: [
      {
        title: 'Data',
        columns: ['Key', 'Size', 'Value'],
        rows: Object.entries(mapAt(secret, 'data')).map(([key, value]) => [
          code(key),
          text(`${bytesOf(String(value))} bytes`),
          { type: 'hidden', base64: String(value) },
        ]),
        empty: 'The secret holds no data.',
      },
    ],
  };
}

/** How many bytes a text of Base64 stands for. */
function bytesOf(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}

export function claimSummary(claim: Value): Summary {
  const volume = textAt(claim, 'spec', 'volumeName');
  const storageClass = textAt(claim, 'spec', 'storageClassName');
  return {
    facts: [
      ...fact('Status', state(textAt(claim, 'status', 'phase') || 'Pending')),
      ...fact('Volume', volume === '' ? undefined : { type: 'link', apiVersion: 'v1', kind: 'PersistentVolume', name: volume }),
      ...fact('Asked for', textAt(claim, 'spec', 'resources', 'requests', 'storage')),
      ...fact('Capacity', textAt(claim, 'status', 'capacity', 'storage')),
      ...fact('Storage class', storageClass),
      ...fact('Access', list(listAt(claim, 'spec', 'accessModes').map((mode) => text(String(mode))))),
      ...fact('Volume mode', textAt(claim, 'spec', 'volumeMode')),
    ],
    tables: [],
  };
}

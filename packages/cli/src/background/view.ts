/** How background servers are shown: a table, JSON, or names. */

import { flag, readChoice } from '@plat-dev/lib/flags';
import { TablePrinter } from '../output/print-table.ts';
import { isRunning } from './process.ts';
import type { Records, ServerRecord } from './records.ts';

export const outputFlag = <const C extends string>(choices: readonly C[], help: string) =>
  flag<C | ''>('', help, choices.join('|'), (text) => readChoice(text, choices), { short: 'o' });

export const isUp = ({ process }: ServerRecord): boolean => process !== undefined && isRunning(process);

export function asJson(records: Records, record: ServerRecord): object {
  const { name, address, identity, store, context, kubeconfig } = record;
  const up = isUp(record);
  return {
    name,
    status: up ? 'Running' : 'Stopped',
    ...(up && { address, pid: record.process?.pid, context, kubeconfig, ownKubeconfig: records.adminConfig(name) }),
    identity,
    store,
    directory: records.directory(name),
    log: records.logFile(name),
  };
}

const columns = ['Name', 'Status', 'Address', 'Identity', 'Store', 'Context'].map((name) => ({ name }));

export function asTable(list: readonly ServerRecord[]): string {
  const printer = new TablePrinter({ wide: false, headers: true, namespaces: false, labels: false, prefix: '' });
  const rows = list.map((record) => {
    const up = isUp(record);
    const { name, address, identity, store, context } = record;
    return { cells: [name, up ? 'Running' : 'Stopped', up ? address : '', identity, store, up ? context : ''] };
  });
  return printer.print(columns, rows);
}

/** `plat set subject`: adds users, groups and service accounts to bindings. */
import { isDeepStrictEqual } from 'node:util';
import { FlagError } from '@plat-dev/lib/flags';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import type { JsonObject } from '@plat-dev/schema/types';
import { command } from '../command.ts';
import { bindingFlags, subjectsOf } from '../create/access.ts';
import { setFlags, update } from './update-objects.ts';

const { Changing, Connecting, ...groups } = setFlags({});

export const subject = command({
  usage: 'TYPE NAME | TYPE/NAME | TYPE --all | -f FILE  --user NAME | --group NAME | --serviceaccount NAMESPACE:NAME [flags]',
  summary: 'Add subjects to role bindings.',
  // Its own --user is last, since it replaces the global one.
  flags: { ...groups, Connecting, Changing: { ...bindingFlags, ...Changing } },
  more: `
Examples:
  plat set subject rolebinding readers --user=ann --group=dev
  plat set subject clusterrolebinding admins --serviceaccount=team-a:robot
  plat set subject -f binding.yaml --user=ann --local -o yaml
`,
  async run(line, io) {
    const { user, group, serviceaccount } = line.options;
    if (user.length + group.length + serviceaccount.length === 0) {
      throw new FlagError('which subject? For example: --user=ann, --group=dev, --serviceaccount=team-a:robot');
    }
    for (const account of serviceaccount) {
      if (!/^[^:]*:[^:]+$/.test(account))
        throw new FlagError(`--serviceaccount: ${JSON.stringify(account)} is not of the form namespace:name`);
    }
    const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort();
    return update(
      {
        name: 'subject',
        verb: 'subjects updated',
        options: { ...line.options, user: undefined },
        args: line.args,
        line,
        async change(object, work) {
          const { group: apiGroup } = splitApiVersion((object.apiVersion as string | undefined) ?? '');
          const isBinding = object.kind === 'RoleBinding' || object.kind === 'ClusterRoleBinding';
          if (!isBinding || !apiGroup.startsWith('rbac.authorization.'))
            throw new Error('setting subjects is only supported for RoleBinding/ClusterRoleBinding');
          const accounts = sorted(serviceaccount).map((account) => {
            if (!account.startsWith(':')) return account;
            if (object.kind === 'ClusterRoleBinding')
              throw new Error(`the service account ${account.slice(1)} needs a namespace: NAMESPACE:NAME`);
            return `${work?.namespace ?? line.options.namespace ?? 'default'}${account}`;
          });
          const currentSubjects = (object.subjects ?? []) as JsonObject[];
          const wantedSubjects = subjectsOf({ user: sorted(user), group: sorted(group), serviceaccount: accounts }, apiGroup);
          const newSubjects = wantedSubjects.filter((one) => !currentSubjects.some((other) => isDeepStrictEqual(one, other)));
          return newSubjects.length === 0 ? object : { ...object, subjects: [...currentSubjects, ...newSubjects] };
        },
      },
      io,
    );
  },
});

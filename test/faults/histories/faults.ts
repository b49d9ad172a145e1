/** What is done to the cluster while clients use it. Every fault ends before the next begins; some take the majority away. */
import type { Random } from '../../../packages/lib/src/random.ts';
import type { EtcdFixture } from '../../support/etcd.ts';
import { sleep } from '../api.ts';
import { type Cluster, MEMBERS, SERVERS, type Server } from './cluster.ts';
import type { Link } from './network.ts';

type Inject = (cluster: Cluster, random: Random) => Promise<void>;

const memberOf = ({ members }: Cluster, random: Random) => members[random.below(MEMBERS)] as EtcdFixture;
const serverOf = ({ servers }: Cluster, random: Random) => servers[random.below(SERVERS)] as Server;
const broken = (random: Random): Link => (random.below(2) === 0 ? 'cut' : 'stalled');

async function isolated(cluster: Cluster, random: Random, direction: 'both' | 'in' | 'out'): Promise<void> {
  const member = random.below(MEMBERS);
  cluster.network.isolate(member, MEMBERS, broken(random), direction);
  await sleep(500 + random.below(4_000));
  cluster.network.isolate(member, MEMBERS, 'open');
}

const faults: Readonly<Record<string, Inject>> = {
  async 'member killed'(cluster, random) {
    const member = memberOf(cluster, random);
    await member.kill();
    await sleep(random.below(2_500));
    await member.start(false);
    await sleep(500);
  },
  async 'member frozen'(cluster, random) {
    const member = memberOf(cluster, random);
    member.freeze();
    await sleep(300 + random.below(4_000));
    member.thaw();
  },
  async 'majority frozen'(cluster, random) {
    const spared = random.below(MEMBERS);
    const others = cluster.members.filter((_, index) => index !== spared);
    for (const member of others) member.freeze();
    await sleep(300 + random.below(2_000));
    for (const member of others) member.thaw();
  },
  'member partitioned': (cluster, random) => isolated(cluster, random, 'both'),
  'member partitioned one way': (cluster, random) => isolated(cluster, random, random.below(2) === 0 ? 'in' : 'out'),
  async 'server cut off from a member'(cluster, random) {
    const link = serverOf(cluster, random).links[random.below(MEMBERS)];
    if (random.below(2) === 0) link?.cut();
    else link?.stall();
    await sleep(300 + random.below(4_000));
    link?.mend();
  },
  async 'server cut off from all members'(cluster, random) {
    const { links } = serverOf(cluster, random);
    const stall = random.below(2) === 0;
    for (const link of links) stall ? link.stall() : link.cut();
    await sleep(300 + random.below(4_000));
    for (const link of links) link.mend();
  },
  async 'server killed'(cluster, random) {
    const server = serverOf(cluster, random);
    await server.kill();
    await sleep(random.below(1_000));
    await server.start();
  },
  async 'server frozen'(cluster, random) {
    const server = serverOf(cluster, random);
    server.freeze();
    await sleep(300 + random.below(4_000));
    server.thaw();
  },
  async 'clock jump'(cluster, random) {
    const far = [1_000, 60_000, 3_600_000][random.below(3)] as number;
    serverOf(cluster, random).shiftClock((random.below(2) === 0 ? -1 : 1) * random.below(far));
    await sleep(300);
  },
};

/** One fault after another until it is stopped, or so many were made; answers how often each was made. */
export async function injectFaults(
  cluster: Cluster,
  random: Random,
  stop: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const names = Object.keys(faults);
  // All kinds in an order of their own each time, so that a short run has as many kinds as it can.
  for (let left: string[] = [], made = 0; !stop.aborted && made < most; made++) {
    if (left.length === 0) left = [...names];
    const name = left.splice(random.below(left.length), 1)[0] as string;
    await (faults[name] as Inject)(cluster, random);
    counts[name] = (counts[name] ?? 0) + 1;
    await sleep(200 + random.below(1_500));
  }
  return counts;
}

// Servers in turn: every round of a load has each server once, in changing order, between two loads of the bare server.
import { median } from './figures.mjs';

/** Figures of a load for each target: the medians over the rounds, and the ratio to the bare server of the same round. */
export async function inRounds(targets, { rounds, measure, measureBare }) {
  const found = targets.map(() => []);
  const bares = [];
  for (let round = 0; round < rounds; round++) {
    // The bare server before and after: the machine's own speed wanders.
    const before = await measureBare();
    const order = targets.map((_, at) => at);
    for (const at of round % 2 === 0 ? order : order.reverse()) found[at].push(await measure(targets[at]));
    const after = await measureBare();
    bares.push(before, after);
    const rate = (before.rate + after.rate) / 2;
    for (const figures of found) figures[round] = { ...figures[round], ratio: figures[round].rate / rate };
  }
  const middle = (figures, of) => median(figures.map(of));
  return {
    bare: { rates: bares.map(({ rate }) => rate), micros: bares.map(({ cpu }) => cpu.all) },
    targets: found.map((figures) => ({
      rate: middle(figures, ({ rate }) => rate),
      p50: middle(figures, ({ p50 }) => p50),
      p99: middle(figures, ({ p99 }) => p99),
      failed: figures.reduce((sum, { failed }) => sum + failed, 0),
      cpu: { all: middle(figures, ({ cpu }) => cpu.all), main: middle(figures, ({ cpu }) => cpu.main) },
      ratio: +middle(figures, ({ ratio }) => ratio).toFixed(3),
    })),
  };
}

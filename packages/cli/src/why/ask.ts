/** Questions why, over the connection of a command. */
import { type Answer, askWhy as ask, type Question, type QuestionSpec } from '@plat-dev/client/why';
import { askedServer } from '../discovery/api-groups.ts';
import type { Work } from '../work.ts';

export const askWhy = <K extends Question>(work: Work, kind: K, spec: QuestionSpec<K>): Promise<Answer<K>> =>
  ask(askedServer(work), kind, spec);

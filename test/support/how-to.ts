/**
 * The steps of a page of docs/how-to, and what becomes of the tree when they are followed:
 *
 *   Create `FILE`: and a block                      a new file
 *   In `FILE`, after … block … add … block          lines after a line that the file has once
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type Step =
  | { readonly type: 'create'; readonly file: string; readonly text: string }
  | { readonly type: 'insert'; readonly file: string; readonly after: string; readonly text: string };

const block = '```\\w+\\n([\\s\\S]*?)```';
const steps = new RegExp(`Create \`([^\`]+)\`:\\n\\n${block}|In \`([^\`]+)\`, after\\n\\n${block}\\n\\nadd\\n\\n${block}`, 'g');

export function stepsOf(page: string): Step[] {
  return [...page.matchAll(steps)].map(([, created, content = '', changed = '', after = '', added = '']) =>
    created !== undefined ? { type: 'create', file: created, text: content } : { type: 'insert', file: changed, after, text: added },
  );
}

/** Test files and other files that the commands of a page name. */
export const filesOfCommands = (page: string): string[] =>
  [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, commands = '']) => commands.match(/[\w./-]+\.test\.ts/g) ?? []);

/** Throws where a file that is to be created is there, or the line to insert after is not there exactly once. */
export function follow(root: string, step: Step): void {
  const file = join(root, step.file);
  if (step.type === 'create') {
    if (existsSync(file)) throw new Error(`${step.file} exists`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, step.text);
    return;
  }
  const parts = `\n${readFileSync(file, 'utf8')}`.split(`\n${step.after}`);
  if (parts.length !== 2) throw new Error(`${step.file} has ${JSON.stringify(step.after)} ${parts.length - 1} times`);
  writeFileSync(file, `${parts[0]}\n${step.after}${step.text}${parts[1]}`.slice(1));
}

/**
 * The program `tar` of simulated containers, as `kubectl cp` runs it: archives on standard output and standard input.
 *
 *   tar cf - /etc/hosts      tar cf - -C /etc hosts      tar -xmf - -C /tmp
 */
import { bytesOf, textOf } from '@plat-dev/lib/byte-text';
import { paddingOf } from '@plat-dev/streams/tar/entry';
import { TarError, TarReader } from '@plat-dev/streams/tar/read';
import { endingOf, headerOf } from '@plat-dev/streams/tar/write';
import { FILE_BYTES, withoutEnd } from './files.ts';
import type { Environment, Running } from './program.ts';
import { NotSupported } from './words.ts';

interface TarOptions {
  readonly mode: 'create' | 'extract';
  readonly directory: string;
  readonly paths: readonly string[];
}

function wantedOf(args: readonly string[]): TarOptions {
  let letters = '';
  let directory = '.';
  let archive = '-';
  const paths: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === '-C') directory = args[++i] ?? '.';
    else if (arg.startsWith('--')) continue;
    else if ((i === 0 && /^[a-z]+$/i.test(arg)) || (arg.length > 1 && arg.startsWith('-'))) {
      letters += arg.replace('-', '');
      if (arg.endsWith('f')) archive = args[++i] ?? '-';
    } else paths.push(arg);
  }
  const mode = letters.includes('c') ? 'create' : letters.includes('x') ? 'extract' : undefined;
  if (mode === undefined || archive !== '-' || /[zjJ]/.test(letters)) throw new NotSupported('this form of tar');
  return { mode, directory, paths };
}

export function* tar(args: readonly string[], environment: Environment): Running {
  const tarOptions = wantedOf(args);
  return yield* tarOptions.mode === 'create' ? create(tarOptions, environment) : extract(tarOptions, environment);
}

function* create({ directory, paths }: TarOptions, { files, now }: Environment): Running {
  let writtenBytes = 0;
  let code = 0;
  for (const path of paths) {
    const at = files.absolute(path.startsWith('/') ? path : `${directory}/${path}`);
    const name = withoutEnd(path, '/').replace(/^\/+/, '');
    const filePaths = files.under(at);
    if (filePaths.length === 0 && !files.isDirectory(at)) {
      if (files.assume(at)) continue;
      yield { err: `tar: ${path}: No such file or directory\n` };
      code = 1;
      continue;
    }
    if (path.startsWith('/')) yield { err: "tar: removing leading '/' from member names\n" };
    const owned = { mode: 0o644, target: '', uid: 0, gid: 0, mtime: Math.floor(now() / 1000) };
    if (files.read(at) === undefined) {
      const header = headerOf({ ...owned, kind: 'directory', name, size: 0, mode: 0o755 });
      writtenBytes += header.length;
      yield { out: textOf(header) };
    }
    for (const file of filePaths) {
      if (file.endsWith('/')) continue;
      const content = bytesOf(files.read(file) ?? '');
      const header = headerOf({ ...owned, kind: 'file', name: `${name}${file.slice(at.length)}`, size: content.length });
      const whole = Buffer.concat([header, content, Buffer.alloc(paddingOf(content.length))]);
      writtenBytes += whole.length;
      yield { out: textOf(whole) };
    }
  }
  yield { out: textOf(endingOf(writtenBytes)) };
  return code;
}

function* extract({ directory }: TarOptions, { files }: Environment): Running {
  const full: string[] = [];
  const reader = new TarReader(({ kind, name, size }) => {
    if (kind !== 'file') return undefined;
    const path = files.absolute(`${directory}/${name}`);
    if (size > FILE_BYTES) {
      full.push(path);
      return undefined;
    }
    const parts: Buffer[] = [];
    return {
      write: (bytes) => void parts.push(Buffer.from(bytes)),
      end: () => {
        if (!files.write(path, textOf(Buffer.concat(parts)))) full.push(path);
      },
    };
  });
  try {
    for (let piece = yield { input: true }; piece !== undefined; piece = yield { input: true }) reader.push(bytesOf(piece));
    reader.end();
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
    yield { err: `tar: ${error.message}\n` };
    return 1;
  }
  for (const path of full) yield { err: `tar: ${path}: No space left on device\n` };
  return full.length === 0 ? 0 : 1;
}

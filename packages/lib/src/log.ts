/**
 * The server's log: one line per entry, as text for people or as JSON for machines. Secrets are never logged: fields with
 * names of secrets are blanked, and so are tokens within any text.
 *
 *   const log = openLog({ format: 'text', verbosity: 2 });
 *   log.info('ready', { address });
 *   if (log.enabled(4)) log.debug(4, 'watch opened', { kind });   // nothing is built if it is not logged
 *
 * Lines are collected and written once per turn of the event loop. When the reader of the log is stuck, at most a mebibyte is
 * kept and further lines are counted and dropped: a log must never stop the server.
 */

import { write, writeSync } from 'node:fs';
import { systemClock } from './clock.ts';
import { jsonText } from './json-text.ts';
import { inNextTurn } from './next-turn.ts';
import { setOwn } from './own.ts';
import type { MaybePromise } from './when-ready.ts';

type LogFormat = 'text' | 'json';
type LogLevel = 'error' | 'warn' | 'info' | 'debug';
/** What a line of the log says besides its message. @public */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  /** Written when the verbosity (`--v`) is at least this high. 2: notable, 4: detail, 6: requests, 7: inner requests, 8: bodies' shape. */
  debug(verbosity: number, message: string, fields?: LogFields): void;
  enabled(verbosity: number): boolean;
  /** A log whose entries all carry these fields. */
  child(fields: LogFields): Log;
  /** Writes the collected lines at once: before the process ends. */
  flush(): void;
  /** Why lines are lost now; undefined while they are written. */
  problem?(): string | undefined;
}

export interface LogOptions {
  readonly format?: LogFormat;
  readonly verbosity?: number;
  readonly now?: () => number;
  /** The output; standard error if not given. */
  readonly write?: LogWriter;
}

const blank = '[redacted]';
const secretName =
  /^(authorization|proxy-authorization|cookie|set-cookie|password|passwd|token|secret|id[-_]?token|refresh[-_]?token|access[-_]?token|bearer|client[-_]?secret|client[-_]?key(?:[-_]?data)?|private[-_]?key|token[-_]?secret|credentials?)$/i;
const secretText =
  /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|\b[a-z0-9]{6}\.[a-z0-9]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** Blanks tokens, passwords and keys in a text. */
export function redactText(text: string): string {
  return text.replace(secretText, (_, scheme: string | undefined) => (scheme === undefined ? blank : `${scheme} ${blank}`));
}

const deepest = 6;
function redact(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Error) {
    return value.cause === undefined
      ? redactText(value.message)
      : redactText(`${value.message}: ${String((value.cause as Error).message ?? value.cause)}`);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return '…';
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redact(item, depth + 1));
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  return redactFields(value as LogFields, depth);
}
function redactFields(fields: LogFields, depth: number): Record<string, unknown> {
  const redacted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || typeof value === 'function') continue;
    setOwn(redacted, name, secretName.test(name) && value !== '' && value !== null ? blank : redact(value, depth + 1));
  }
  return redacted;
}

const levelLetter: Readonly<Record<LogLevel, string>> = { error: 'ERROR', warn: 'WARN ', info: 'INFO ', debug: 'DEBUG' };

function textLine(time: number, level: LogLevel, message: string, fields: Record<string, unknown>): string {
  let line = `${new Date(time).toISOString()} ${levelLetter[level]} ${JSON.stringify(message).slice(1, -1).replace(/\\"/g, '"')}`;
  for (const [name, value] of Object.entries(fields)) {
    const text = typeof value === 'string' && /^[^\s"=\\\p{Cc}]+$/u.test(value) ? value : jsonText(value);
    line += ` ${name}=${text}`;
  }
  return `${line}\n`;
}
function jsonLine(time: number, level: LogLevel, message: string, fields: Record<string, unknown>): string {
  return `${jsonText({ time: new Date(time).toISOString(), level, msg: message, ...fields })}\n`;
}

/** Takes lines; a promise means that further ones should wait until it resolves. Must not throw or reject. */
export type LogWriter = (lines: string) => MaybePromise<void>;

class Sink {
  private lines = '';
  private dropped = 0;
  private busy = false;
  private readonly write: LogWriter;

  constructor(write: LogWriter) {
    this.write = write;
  }
  add(line: string): void {
    if (this.lines.length + line.length > maxGathered) {
      this.dropped++;
      return;
    }
    this.lines += line;
    if (this.busy) return;
    this.busy = true;
    inNextTurn(() => this.drain());
  }
  problem(): string | undefined {
    return this.dropped === 0 ? undefined : `nothing takes the lines: ${this.dropped} were dropped`;
  }
  /** Everything collected so far; empties the sink. */
  take(): string {
    const lines = this.dropped === 0 ? this.lines : `${this.lines}${this.dropped} log lines were dropped\n`;
    this.lines = '';
    this.dropped = 0;
    return lines;
  }
  private async drain(): Promise<void> {
    while (this.lines !== '') await this.write(this.take());
    this.busy = false;
  }
}
const maxGathered = 1 << 20;

const stderr = 2;
/** Off the event loop, so that a terminal or pipe without a reader delays nothing but the log. */
const writeToStderr: LogWriter = (lines) =>
  new Promise((resolve) => {
    write(stderr, lines, () => resolve());
  });
function writeToStderrNow(lines: string): void {
  try {
    writeSync(stderr, lines);
  } catch {
    // The log has no reader any more, so that this cannot be reported.
  }
}

export function openLog(options: LogOptions = {}): Log {
  const verbosity = options.verbosity ?? 0;
  const now = options.now ?? systemClock.now;
  const format = options.format === 'json' ? jsonLine : textLine;
  const sink = new Sink(options.write ?? writeToStderr);
  const flushTo = options.write ?? writeToStderrNow;
  const withFields = (common: Record<string, unknown>): Log => {
    const entry = (level: LogLevel, message: string, fields: LogFields | undefined): void => {
      const entryFields = fields === undefined ? common : { ...common, ...redactFields(fields, 0) };
      sink.add(format(now(), level, redactText(message), entryFields));
    };
    return {
      error: (message, fields) => entry('error', message, fields),
      warn: (message, fields) => entry('warn', message, fields),
      info: (message, fields) => entry('info', message, fields),
      debug: (level, message, fields) => {
        if (verbosity >= level) entry('debug', message, fields);
      },
      enabled: (level) => verbosity >= level,
      child: (fields) => withFields({ ...common, ...redactFields(fields, 0) }),
      flush: () => flushTo(sink.take()),
      problem: () => sink.problem(),
    };
  };
  return withFields({});
}

/** Logs nothing: for tests. */
export const silentLog: Log = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  enabled: () => false,
  child: () => silentLog,
  flush() {},
};

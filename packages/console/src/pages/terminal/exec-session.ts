/**
 * A command that runs in a container for a terminal, over a WebSocket with channels: the first byte of each message says which one.
 *
 *   connecting ──open──▶ open ──Status, or closed──▶ ended
 *       └──closed──▶ failed
 */
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { type Signal, signal } from '@preact/signals';
import type { ApiError, Status } from '../../api/api-error.ts';

export type SessionPhase =
  | { readonly phase: 'connecting' | 'open' }
  /** `exitCode` is undefined where the server did not say it. */
  | { readonly phase: 'ended'; readonly exitCode: number | undefined; readonly message: string }
  | { readonly phase: 'failed'; readonly error: ApiError };

/** What is used of a WebSocket. */
export interface ExecSocket {
  binaryType: BinaryType;
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: (() => void) | null;
  send(message: Uint8Array<ArrayBuffer>): void;
  close(): void;
}

export interface ExecSessionOptions {
  readonly connect: (protocols: readonly string[]) => ExecSocket;
  /** Calls `shown` when the bytes are on the terminal. */
  readonly onOutput: (bytes: Uint8Array, shown: () => void) => void;
  /** Why the server did not accept the connection, which browsers do not tell. */
  readonly explain: () => Promise<ApiError>;
}

const Channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
/** Servers know those of their own identity. */
const protocols = [5, 4].flatMap((version) => [kubernetes, plat].map(({ groupSuffix }) => `v${version}.channel.${groupSuffix}`));

/** Output that waits for the terminal, which browsers cannot ask a server to slow down for. */
export const MOST_WAITING_BYTES = 16 * 1024 * 1024;
/** Servers refuse long messages. */
export const LONGEST_INPUT = 16 * 1024;

export class ExecSession {
  readonly state: Signal<SessionPhase> = signal<SessionPhase>({ phase: 'connecting' });
  readonly #options: ExecSessionOptions;
  readonly #socket: ExecSocket;
  #waitingBytes = 0;

  /** Connects, and runs until the command ends or `close`. */
  constructor(options: ExecSessionOptions) {
    this.#options = options;
    const socket = options.connect(protocols);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      this.state.value = { phase: 'open' };
    };
    socket.onmessage = ({ data }) => {
      // An empty message says only that its channel is there.
      if (data instanceof ArrayBuffer && data.byteLength > 1) this.#receive(new Uint8Array(data));
    };
    socket.onclose = () => void this.#closed();
    this.#socket = socket;
  }

  close(): void {
    this.#socket.onclose = null;
    this.#socket.close();
  }

  write(text: string): void {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length; at += LONGEST_INPUT) this.#send(Channel.stdin, bytes.subarray(at, at + LONGEST_INPUT));
  }

  resize(columns: number, rows: number): void {
    this.#send(Channel.resize, new TextEncoder().encode(JSON.stringify({ Width: columns, Height: rows })));
  }

  #send(channel: number, bytes: Uint8Array): void {
    if (this.state.peek().phase !== 'open') return;
    const message = new Uint8Array(bytes.length + 1);
    message[0] = channel;
    message.set(bytes, 1);
    this.#socket.send(message);
  }

  #receive(message: Uint8Array): void {
    const bytes = message.subarray(1);
    if (message[0] === Channel.error) this.#end(statusOf(bytes));
    else if (message[0] === Channel.stdout || message[0] === Channel.stderr) this.#show(bytes);
  }

  #show(bytes: Uint8Array): void {
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > MOST_WAITING_BYTES) {
      this.#finish({ phase: 'ended', exitCode: undefined, message: 'The command writes faster than the terminal can show it.' });
      this.close();
      return;
    }
    this.#options.onOutput(bytes, () => {
      this.#waitingBytes -= bytes.length;
    });
  }

  #end(status: Status): void {
    if ((status as { readonly status?: string }).status === 'Success') {
      this.#finish({ phase: 'ended', exitCode: 0, message: '' });
      return;
    }
    const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
    const exitCode = code === undefined ? undefined : Number(code);
    this.#finish({ phase: 'ended', exitCode, message: exitCode === undefined ? (status.message ?? '') : '' });
  }

  async #closed(): Promise<void> {
    const { phase } = this.state.peek();
    if (phase === 'open') this.#finish({ phase: 'ended', exitCode: undefined, message: 'The connection was closed.' });
    if (phase !== 'connecting') return;
    this.state.value = { phase: 'failed', error: await this.#options.explain() };
  }

  #finish(state: SessionPhase): void {
    if (this.state.peek().phase === 'open') this.state.value = state;
  }
}

function statusOf(bytes: Uint8Array): Status {
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text) as Status;
  } catch {
    return { message: text };
  }
}

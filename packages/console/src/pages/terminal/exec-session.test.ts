import { expect, test } from 'vitest';
import { ApiError } from '../../api/api-error.ts';
import { ExecSession, type ExecSocket, LONGEST_INPUT, MOST_WAITING_BYTES } from './exec-session.ts';

function started() {
  const sent: Uint8Array[] = [];
  const protocols: string[] = [];
  const shown: (() => void)[] = [];
  const output: number[] = [];
  const socket: ExecSocket & { isClosed: boolean } = {
    binaryType: 'blob',
    onopen: null,
    onmessage: null,
    onclose: null,
    isClosed: false,
    send: (message) => sent.push(message),
    close: () => {
      socket.isClosed = true;
    },
  };
  const session = new ExecSession({
    connect: (offered) => {
      protocols.push(...offered);
      return socket;
    },
    onOutput: (bytes, done) => {
      output.push(bytes.length);
      shown.push(done);
    },
    explain: async () => new ApiError({ code: 403, message: 'no' }),
  });
  const receive = (channel: number, content: string | number): void => {
    const bytes = typeof content === 'number' ? new Uint8Array(content) : new TextEncoder().encode(content);
    socket.onmessage?.({ data: new Uint8Array([channel]).buffer });
    const message = new Uint8Array(bytes.length + 1);
    message[0] = channel;
    message.set(bytes, 1);
    socket.onmessage?.({ data: message.buffer });
  };
  return { socket, session, sent, protocols, output, shown, receive };
}

test('input and sizes are sent on their channels once the connection is open', () => {
  const { socket, session, sent, protocols } = started();
  session.write('early');
  expect(sent).toEqual([]);
  expect([socket.binaryType, protocols]).toEqual([
    'arraybuffer',
    ['v5.channel.k8s.io', 'v5.channel.plat.dev', 'v4.channel.k8s.io', 'v4.channel.plat.dev'],
  ]);
  socket.onopen?.();
  session.write('ls\r');
  session.resize(80, 24);
  expect(sent.map((message) => [message[0], new TextDecoder().decode(message.subarray(1))])).toEqual([
    [0, 'ls\r'],
    [4, '{"Width":80,"Height":24}'],
  ]);
  session.write('x'.repeat(LONGEST_INPUT + 1));
  expect(sent.slice(2).map(({ length }) => length)).toEqual([LONGEST_INPUT + 1, 2]);
});

test('the last message says how the command ended', () => {
  const exit = { status: 'Failure', reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: '3' }] } };
  const ends: [object, object][] = [
    [{ status: 'Success' }, { phase: 'ended', exitCode: 0, message: '' }],
    [exit, { phase: 'ended', exitCode: 3, message: '' }],
    [
      { status: 'Failure', message: 'no such program' },
      { phase: 'ended', exitCode: undefined, message: 'no such program' },
    ],
  ];
  for (const [status, state] of ends) {
    const { socket, session, receive } = started();
    socket.onopen?.();
    receive(3, JSON.stringify(status));
    socket.onclose?.();
    expect(session.state.value).toEqual(state);
  }
});

test('a connection that was never open is explained; one that was open has ended', async () => {
  const refused = started();
  refused.socket.onclose?.();
  await Promise.resolve();
  await Promise.resolve();
  expect(refused.session.state.value).toMatchObject({ phase: 'failed', error: { code: 403 } });
  const cut = started();
  cut.socket.onopen?.();
  cut.socket.onclose?.();
  expect(cut.session.state.value).toMatchObject({ phase: 'ended', message: 'The connection was closed.' });
});

test('a command that writes more than is shown is ended', () => {
  const { socket, session, receive, output, shown } = started();
  socket.onopen?.();
  receive(1, MOST_WAITING_BYTES / 2);
  receive(2, MOST_WAITING_BYTES / 2);
  for (const done of shown) done();
  receive(1, MOST_WAITING_BYTES);
  expect(output).toEqual([MOST_WAITING_BYTES / 2, MOST_WAITING_BYTES / 2, MOST_WAITING_BYTES]);
  receive(1, 1);
  expect([socket.isClosed, session.state.value.phase]).toEqual([true, 'ended']);
});

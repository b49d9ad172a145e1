import { paddingOf } from '@plat-dev/streams/tar/entry';
import { TarReader } from '@plat-dev/streams/tar/read';
import { endingOf, headerOf } from '@plat-dev/streams/tar/write';

const content = Buffer.from('hello');
const entry = { kind: 'file', name: 'greeting.txt', size: content.length, mode: 0o644, target: '', uid: 0, gid: 0, mtime: 0 } as const;
const file = Buffer.concat([headerOf(entry), content, Buffer.alloc(paddingOf(content.length))]);

const reader = new TarReader(({ name, size }) => {
  console.log(name, size);
  return { write: (bytes) => console.log(bytes.toString()), end: () => console.log('end of file') };
});
reader.push(Buffer.concat([file, endingOf(file.length)]));
reader.end();

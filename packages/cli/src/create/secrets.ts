/** `plat create secret generic`, `tls` and `docker-registry`. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { FlagError, list, text } from '@plat-dev/lib/flags';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import type { IO } from '../command.ts';
import { appendHashFlag, dataFlags, readBytes, readData, secretData } from './data.ts';
import { type Maker, maker, type World } from './maker.ts';
import { escapedJson, secretHash } from './name-hash.ts';

const facts = { kind: 'Secret', plural: 'secrets' };
const hashFlag = { 'append-hash': appendHashFlag('secret') };

function secret({ name }: World, type: string, pairs: ReadonlyMap<string, Buffer>, appendHash: boolean): JsonObject {
  const content = secretData(pairs);
  return {
    ...(appendHash && { metadata: { name: `${name}-${secretHash({ name, type, data: content.data ?? {} })}` } }),
    ...content,
    ...(type !== '' && { type }),
  };
}
const typeName = ({ identity }: World, name: string): string => domainName(identity as Identity, name);

export const secretMakers: readonly Maker[] = [
  maker({
    ...facts,
    path: 'secret docker-registry',
    summary: 'Create a secret with the credentials of an image registry.',
    examples: [
      'plat create secret docker-registry images --docker-username=ann --docker-password=x --docker-email=ann@example.com',
      'plat create secret docker-registry images --docker-server=registry.example.com --docker-username=ann --docker-password=x',
      'plat create secret docker-registry images --from-file=.dockerconfigjson=$HOME/.docker/config.json',
    ],
    hasDomainNames: true,
    flags: {
      'docker-server': text('https://index.docker.io/v1/', 'Address of the registry.', { value: 'URL' }),
      'docker-username': text('', 'User of the registry.', { value: 'NAME' }),
      'docker-password': text('', 'Password of that user.', { value: 'PASSWORD' }),
      'docker-email': text('', 'Mail address of that user.', { value: 'ADDRESS' }),
      'from-file': list([], 'A file with credentials, under its own name or another key; may be repeated.', { value: '[KEY=]PATH,…' }),
      ...hashFlag,
    },
    async make(options, world) {
      const { dockerServer, dockerUsername, dockerPassword, dockerEmail, fromFile } = options;
      const type = typeName(world, 'dockerconfigjson');
      if (fromFile.length > 0) {
        const files = await readData({ fromFile, fromLiteral: [], fromEnvFile: [] }, world.io);
        return secret(world, type, files, options.appendHash);
      }
      if (dockerUsername === '' || dockerPassword === '' || dockerServer === '') {
        throw new FlagError('which credentials? Name --docker-username, --docker-password and --docker-server, or a file with --from-file');
      }
      const entry = {
        username: dockerUsername,
        password: dockerPassword,
        ...(dockerEmail !== '' && { email: dockerEmail }),
        auth: Buffer.from(`${dockerUsername}:${dockerPassword}`).toString('base64'),
      };
      const content = Buffer.from(escapedJson({ auths: { [dockerServer]: entry } }));
      return secret(world, type, new Map([['.dockerconfigjson', content]]), options.appendHash);
    },
  }),
  maker({
    ...facts,
    path: 'secret generic',
    summary: 'Create a secret from literals, files, directories or files of variables.',
    examples: [
      'plat create secret generic login --from-literal=user=ann --from-literal=password=x',
      'plat create secret generic keys --from-file=id=$HOME/.ssh/id_ed25519',
      'plat create secret generic env --from-env-file=.env --append-hash',
    ],
    flags: { type: text('', 'Type of the secret.', { value: 'TYPE' }), ...dataFlags, ...hashFlag },
    make: async (options, world) => secret(world, options.type, await readData(options, world.io), options.appendHash),
  }),
  maker({
    ...facts,
    path: 'secret tls',
    summary: 'Create a secret with a certificate and its key.',
    examples: [
      'plat create secret tls web --cert=web.crt --key=web.key',
      'plat create secret tls web --cert=web.crt --key=web.key -n team-a',
      'plat create secret tls web --cert=web.crt --key=web.key --append-hash',
    ],
    hasDomainNames: true,
    flags: {
      cert: text('', 'File with the certificate, as PEM.', { value: 'FILE' }),
      key: text('', 'File with its private key, as PEM.', { value: 'FILE' }),
      ...hashFlag,
    },
    async make(options, world) {
      if (options.cert === '' || options.key === '') throw new FlagError('which certificate? Name its files with --cert and --key');
      const cert = await readPath(options.cert, world.io);
      const key = await readPath(options.key, world.io);
      checkPair(cert, key, options);
      const pairs = new Map([
        ['tls.crt', cert],
        ['tls.key', key],
      ]);
      return secret(world, typeName(world, 'tls'), pairs, options.appendHash);
    },
  }),
];

const readPath = (path: string, io: IO): Promise<Buffer> => readBytes(resolve(io.cwd, path), path);

/** A certificate with another's key would be found out by its users alone. */
function checkPair(cert: Buffer, key: Buffer, names: { readonly cert: string; readonly key: string }): void {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch {
    throw new FlagError(`--cert: ${names.cert} holds no certificate`);
  }
  let matches: boolean;
  try {
    matches = certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new FlagError(`--key: ${names.key} holds no private key`);
  }
  if (!matches) throw new FlagError(`the key in ${names.key} is not that of the certificate in ${names.cert}`);
}

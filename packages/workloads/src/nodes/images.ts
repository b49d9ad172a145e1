/**
 * What is known of images, by the last part of their name: web servers with the files that they serve, images without an entrypoint
 * of their own, and servers that run until they are stopped. All else is unknown, and what is unknown is never an error.
 */
import { isWithin, normal } from './shell/files.ts';

/** Where a server has the files that it serves. */
const documentRoots: ReadonlyMap<string, string> = new Map([
  ['httpd', '/usr/local/apache2/htdocs'],
  ['nginx', '/usr/share/nginx/html'],
]);
const PAGE = '<html><body><h1>It works!</h1></body></html>\n';

/** `registry.example/library/httpd:2.4@sha256:…` → `httpd` */
const nameOf = (image: string): string => image.slice(image.lastIndexOf('/') + 1).split(/[:@]/)[0] as string;

/** `/usr/local/apache2/htdocs`; undefined for images that are not known. */
export const documentRootOf = (image: string): string | undefined => documentRoots.get(nameOf(image));

/** The files that a container of an image begins with, as far as they are known. */
export function imageFiles(image: string): ReadonlyMap<string, string> {
  const root = documentRootOf(image);
  return new Map(root === undefined ? [] : [[`${root}/index.html`, PAGE]]);
}

/** The file for the path of a request: `/` is `/index.html`. */
export function documentPath(root: string, path: string): string {
  const inside = normal(path.split('?')[0] as string);
  return `${root}${inside === '/' ? '/index.html' : inside}`;
}

/** Images of a bare system: what they run is what their arguments name. */
const bareImages = new Set(['alpine', 'bash', 'busybox', 'centos', 'debian', 'fedora', 'ubuntu']);
export const isBare = (image: string): boolean => bareImages.has(nameOf(image));

/** Where a bare system has its files; others are those of its user. */
const systemDirectories = [
  '/bin',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/lib64',
  '/opt',
  '/proc',
  '/root',
  '/run',
  '/sbin',
  '/sys',
  '/usr',
  '/var',
];
/** Directories that are empty in every image. */
const emptyDirectories = ['/tmp', '/dev/shm', '/dev/termination-log'];

/** Whether all is known that an image has at a path, which is not that of a volume. */
export function isKnownPath(image: string, path: string): boolean {
  const root = documentRootOf(image);
  if (emptyDirectories.some((directory) => isWithin(path, directory)) || (root !== undefined && isWithin(path, root))) return true;
  return isBare(image) && !systemDirectories.some((directory) => isWithin(path, directory));
}

/** Images whose entrypoint serves until it is stopped. */
const serverImages = new Set([
  'agnhost',
  'caddy',
  'consul',
  'elasticsearch',
  'envoy',
  'etcd',
  'grafana',
  'haproxy',
  'httpd',
  'kafka',
  'mariadb',
  'memcached',
  'minio',
  'mongo',
  'mongodb',
  'mysql',
  'nats',
  'nginx',
  'opensearch',
  'pause',
  'postgres',
  'postgresql',
  'prometheus',
  'rabbitmq',
  'redis',
  'registry',
  'traefik',
  'valkey',
  'vault',
  'zookeeper',
]);
const serverPrograms = new Set([
  'apache2',
  'caddy',
  'etcd',
  'haproxy',
  'httpd',
  'memcached',
  'mongod',
  'mysqld',
  'nginx',
  'pause',
  'postgres',
  'rabbitmq-server',
  'redis-server',
]);

/** Whether a program, or without one the entrypoint of an image, is a known server. */
export const isServer = (image: string, program: string | undefined): boolean =>
  program === undefined ? serverImages.has(nameOf(image)) : serverPrograms.has(program.slice(program.lastIndexOf('/') + 1));

/** Whether an image does nothing, as those do by which pipelines stop their sidecars: `…/cmd/nop:v0.40` */
export const isNothing = (image: string): boolean => /(^|[-_])nop($|[-_])/.test(nameOf(image));

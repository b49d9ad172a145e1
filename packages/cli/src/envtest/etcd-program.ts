/** The program `etcd` of `plat envtest`: runs when it is imported. */
import { fail, main } from './etcd.ts';

try {
  main(process.argv.slice(2));
} catch (error) {
  fail((error as Error).message);
}

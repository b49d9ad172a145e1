/** Jest runs tests as scripts, which cannot load the client library, an ES module: they find it as a global value. */
const { TestEnvironment } = require('jest-environment-node');

module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.k8s = await import('@kubernetes/client-node');
  }
};

import { connect } from '@plat-dev/client';

// Stands for a server, so that the example runs anywhere.
const fetch = async (url: string | URL | Request) => {
  console.log(String(url));
  return Response.json({ kind: 'PodList', metadata: {}, items: [{ metadata: { name: 'web' }, status: { phase: 'Running' } }] });
};

const client = connect({ server: 'https://api.example', token: () => 'secret', fetch });
const { items } = await client.core.v1.pods('shop').list({ labelSelector: 'app=web' });
for (const { metadata, status } of items) console.log(metadata.name, status.phase);
client.close();

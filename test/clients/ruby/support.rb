# What the script needs: steps that report themselves, and the clients of the contexts in KUBECONFIG.
require 'json'
require 'kubeclient'

NAMESPACE = ENV.fetch('NAMESPACE')
GROUP_SUFFIX = ENV.fetch('GROUP_SUFFIX')
CONFIG = Kubeclient::Config.read(ENV.fetch('KUBECONFIG'))
$failed = false

# Runs a step. One that fails does not keep the others from running.
def step(name)
  report = { step: name }
  begin
    yield
  rescue StandardError => e
    $failed = true
    report[:error] = "#{e.class}: #{e.message}\n#{e.backtrace.first(12).join("\n")}"
  end
  puts report.to_json
  $stdout.flush
end

def equal(actual, expected, what)
  raise "#{what}: expected #{expected.inspect}, got #{actual.inspect}" unless actual == expected
end

# Runs what the server must refuse with this code; answers the message of the refusal.
def refused(code)
  begin
    yield
  rescue Kubeclient::HttpError => e
    equal(e.error_code, code, "code of the refusal (#{e.message})")
    return e.message
  end
  raise "nothing was refused with #{code}"
end

# A client of one group, by what a context of the configuration holds.
def client(group = nil, context: 'admin', **changes)
  settings = CONFIG.context(context)
  endpoint = settings.api_endpoint + (group.nil? ? '/api' : "/apis/#{group}")
  options = { ssl_options: settings.ssl_options, auth_options: settings.auth_options }.merge(changes)
  Kubeclient::Client.new(endpoint, 'v1', **options)
end

# A client that has this token, and no certificate.
def client_with_token(**token)
  store = CONFIG.context('admin').ssl_options[:cert_store]
  client(ssl_options: { cert_store: store, verify_ssl: OpenSSL::SSL::VERIFY_PEER }, auth_options: token)
end

def object(name, labels: nil, **fields)
  Kubeclient::Resource.new({ metadata: { name: name, namespace: NAMESPACE, labels: labels }.compact, **fields })
end

# The first events of a watch that satisfy the block, as many as are asked for.
def events(stream, count = 1)
  found = []
  stream.each do |event|
    next if block_given? && !yield(event)

    found << event
    break if found.length == count
  end
  raise "the watch ended after #{found.length} of #{count} events" if found.length < count

  found
ensure
  stream.finish
end

def names(list)
  list.map { |item| item.metadata.name }
end

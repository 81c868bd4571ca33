def serialize():pass
def deserialize():pass

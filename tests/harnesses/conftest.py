"""Harbor's agents load a library that asks the network for prices, unless it is told not to."""

import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
